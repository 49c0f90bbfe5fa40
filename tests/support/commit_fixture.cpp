#include "support/commit_fixture.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "commit/signing_request.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"

namespace edgegpu::test {

namespace fs = std::filesystem;

ConsoleOutput CommitFixture::output() {
    ConsoleOutput output;
    output.write = [this](std::string_view text) {
        const std::lock_guard lock(mutex_);
        said_ += text;
        if (heard_) {
            heard_(text);
        }
    };
    return output;
}

std::string CommitFixture::said() const {
    const std::lock_guard lock(mutex_);
    return said_;
}

CommitFixture::CommitFixture() : console_(output()) {
    std::string name = (fs::temp_directory_path() / "edgegpu-commit-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
        throw Error("mkdtemp failed");
    }
    directory_ = name;
    ctx_.cache = directory_ / "cache";
    ctx_.console = &console_;
    ctx_.source_date_epoch = 1700000000;
    ctx_.jobs = 2;
    make_directories(ctx_.cache);
    make_directories(directory_ / "content");

    blueprint.name = "test";
    blueprint.version = "1.2.3";
    blueprint.ostree.ref = "lab/12/x86_64/edge";
    resolution.kernel_uname = "6.1.0-50-amd64";
    tree.kernel = resolution.kernel_uname;
    for (const char* path : {"/", "/usr", "/usr/bin", "/usr/etc", "/usr/lib"}) {
        add_directory(path);
    }
    add_file("/usr/bin/tool", "#!/bin/sh\necho tool\n", 0755);
    add_file("/usr/lib/empty", "");
    add_file("/usr/lib/passwd", "root:x:0:0:root:/root:/bin/bash\n");
    add_file("/usr/etc/passwd", "core:x:1000:1000::/home/core:/bin/bash\n");
    add_file("/usr/lib/group", "root:x:0:\n");
    add_link("/bin", "usr/bin");
}

CommitFixture::~CommitFixture() {
    std::error_code ignored;
    fs::remove_all(directory_, ignored);
}

void CommitFixture::add_directory(std::string_view path, unsigned mode) {
    Entry entry;
    entry.type = EntryType::directory;
    entry.mode = mode;
    tree.entries[std::string(path)] = entry;
}

Entry& CommitFixture::add_file(std::string_view path, std::string_view content, unsigned mode) {
    Entry entry;
    entry.mode = mode;
    entry.size = content.size();
    entry.digest = sha256_hex(content);
    entry.content = directory_ / "content" / entry.digest;
    write_file(entry.content, content);
    return tree.entries[std::string(path)] = entry;
}

void CommitFixture::add_link(std::string_view path, std::string_view target) {
    Entry entry;
    entry.type = EntryType::symlink;
    entry.target = target;
    tree.entries[std::string(path)] = entry;
}

Commit CommitFixture::build(const std::string& inputs) {
    const Repo opened(ctx_, repo(), blueprint.ostree.ref);
    Signer signer;
    signer.allow(signing_request(blueprint.ostree, blueprint.nvidia));
    const auto parent = read_parent(ctx_, opened, blueprint.ostree, signer);
    return write_commit(ctx_, blueprint, resolution, tree, opened, parent, inputs, signer);
}

std::string CommitFixture::ostree(const std::string& arguments, int* status) const {
    return output_of("ostree --repo=" + repo().string() + " " + arguments, status);
}

bool CommitFixture::has_in_summary(const std::string& checksum) const {
    return ostree("summary -v").find(checksum) != std::string::npos;
}

void CommitFixture::expect_clean() const {
    int status = -1;
    const std::string output = ostree("fsck", &status);
    EXPECT_EQ(status, 0) << output;
}

std::string output_of(const std::string& shell_command, int* status) {
    std::FILE* pipe = ::popen(("( " + shell_command + " ) 2>&1").c_str(), "r");
    if (pipe == nullptr) {
        throw Error("popen failed");
    }
    std::string output;
    std::array<char, 4096> buffer{};
    while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
        output.append(buffer.data(), got);
    }
    const int result = ::pclose(pipe);
    if (status != nullptr) {
        *status = WIFEXITED(result) ? WEXITSTATUS(result) : 128;
    }
    return output;
}

void wait_for_another_time(std::int64_t seconds) {
    timespec until{};
    ::clock_gettime(CLOCK_REALTIME, &until);
    until = {until.tv_sec - until.tv_sec % seconds + seconds, 0};
    while (::clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, nullptr) == EINTR) {
    }
}

}  // namespace edgegpu::test
