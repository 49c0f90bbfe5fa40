#include "support/rpm_fixture.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace edgegpu::test {

namespace fs = std::filesystem;

namespace {

void write(const fs::path& path, const std::string& content) {
    std::ofstream file(path, std::ios::binary);
    file << content;
    if (!file.flush()) {
        throw std::runtime_error("cannot write " + path.string());
    }
}

std::string read_all(int fd) {
    std::string text;
    std::array<char, 4096> buffer;
    ssize_t got = 0;
    while ((got = ::read(fd, buffer.data(), buffer.size())) > 0) {
        text.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return text;
}

}  // namespace

TemporaryDirectory::TemporaryDirectory() {
    std::string name = (fs::temp_directory_path() / "edgegpu-test.XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
        throw std::runtime_error("cannot make " + name);
    }
    path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

void run(const std::vector<std::string>& argv) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) {
        throw std::runtime_error("pipe failed");
    }
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(ends[1], 1);
        ::dup2(ends[1], 2);
        ::close(ends[0]);
        ::close(ends[1]);
        std::vector<char*> list;
        list.reserve(argv.size() + 1);
        for (const std::string& word : argv) {
            list.push_back(const_cast<char*>(word.c_str()));
        }
        list.push_back(nullptr);
        ::execvp(list[0], list.data());
        ::_exit(127);
    }
    ::close(ends[1]);
    const std::string output = read_all(ends[0]);
    ::close(ends[0]);
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child || status != 0) {
        throw std::runtime_error(argv.front() + " failed:\n" + output);
    }
}

std::string simple_spec(const std::string& name, const std::string& version,
                        const std::string& release, const std::string& header,
                        const std::string& rest, const std::string& arch) {
    return "Name: " + name + "\nVersion: " + version + "\nRelease: " + release +
           "\nSummary: test package\nLicense: Apache-2.0\nBuildArch: " + arch + "\n" + header +
           "%description\nMade by a test.\n" + rest;
}

void build_rpm(const fs::path& repository, const std::string& spec) {
    const TemporaryDirectory work;
    write(work.path() / "test.spec", spec);
    run({"env",
         "SOURCE_DATE_EPOCH=1700000000",
         "rpmbuild",
         "-bb",
         "--quiet",
         "--target",
         "x86_64",
         "--define",
         "_topdir " + work.path().string(),
         "--define",
         "_dbpath " + (work.path() / "db").string(),
         "--define",
         "_build_id_links none",
         "--define",
         "debug_package %{nil}",
         "--define",
         "_buildhost test",
         "--define",
         "use_source_date_epoch_as_buildtime 1",
         "--define",
         "__os_install_post %{nil}",
         (work.path() / "test.spec").string()});
    fs::create_directories(repository / "Packages");
    for (const auto& entry : fs::recursive_directory_iterator(work.path() / "RPMS")) {
        if (entry.path().extension() == ".rpm") {
            fs::copy_file(entry.path(), repository / "Packages" / entry.path().filename(),
                          fs::copy_options::overwrite_existing);
        }
    }
}

void createrepo(const fs::path& repository, const std::string& comps, const std::string& modules) {
    fs::create_directories(repository);
    std::vector<std::string> argv{"createrepo_c",  "--quiet",
                                  "--no-database", "--set-timestamp-to-revision",
                                  "--revision",    "1700000000"};
    const TemporaryDirectory work;
    if (!comps.empty()) {
        write(work.path() / "comps.xml", comps);
        argv.insert(argv.end(), {"--groupfile", (work.path() / "comps.xml").string()});
    }
    argv.push_back(repository.string());
    run(argv);
    if (!modules.empty()) {
        write(work.path() / "modules.yaml", modules);
        run({"modifyrepo_c", "--mdtype=modules", (work.path() / "modules.yaml").string(),
             (repository / "repodata").string()});
    }
}

SigningKey::SigningKey(const std::string& address) : address_(address) {
    const std::string home = home_.path().string();
    run({"gpg", "--homedir", home, "--batch", "--pinentry-mode", "loopback", "--passphrase", "",
         "--quick-gen-key", address, "rsa2048", "sign", "never"});
    public_key_ = home_.path() / "public.asc";
    run({"gpg", "--homedir", home, "--batch", "--armor", "--output", public_key_.string(),
         "--export", address});
}

SigningKey::~SigningKey() {
    try {
        run({"gpgconf", "--homedir", home_.path().string(), "--kill", "all"});
    } catch (const std::exception&) {
        // An agent that is gone already is what is wanted.
        return;
    }
}

void SigningKey::sign_repository(const fs::path& repository) const {
    const fs::path repomd = repository / "repodata/repomd.xml";
    run({"gpg", "--homedir", home_.path().string(), "--batch", "--yes", "--local-user", address_,
         "--armor", "--output", repomd.string() + ".asc", "--detach-sign", repomd.string()});
}

void SigningKey::sign_packages(const fs::path& repository) const {
    std::vector<std::string> argv{"rpmsign", "--addsign", "--define", "_gpg_name " + address_,
                                  "--define", "_gpg_path " + home_.path().string(),
                                  // Debian's rpm looks for gpg2 unless told.
                                  "--define", "__gpg /usr/bin/gpg"};
    for (const auto& entry : fs::directory_iterator(repository / "Packages")) {
        argv.push_back(entry.path().string());
    }
    run(argv);
}

}  // namespace edgegpu::test
