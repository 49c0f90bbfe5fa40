#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/commit_fixture.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu::test {

/// Runs the program on a blueprint and repositories of the test's own.
class BadInput : public ::testing::Test {
protected:
    static constexpr const char* kernel_rpm = "Packages/kernel-core-6.1.0-1.x86_64.rpm";

    /// A spec's %install and %files for one file of `size` bytes that do not compress.
    static std::string content(const std::string& path, unsigned size = 64) {
        return "%install\nmkdir -p %{buildroot}" +
               std::filesystem::path(path).parent_path().string() + "\nhead -c " +
               std::to_string(size) + " /dev/urandom > %{buildroot}" + path + "\n%files\n" + path +
               "\n";
    }

    /// The smallest that passes for a kernel.
    static void add_kernel(const std::filesystem::path& repository) {
        build_rpm(repository, simple_spec("kernel-core", "6.1.0", "1", "",
                                          content("/usr/lib/modules/6.1.0-1.x86_64/vmlinuz")));
    }

    static void SetUpTestSuite() {
        store_ = new TemporaryDirectory;
        // The blueprints here name no distribution, and none of this machine is to be taken.
        ::setenv("EDGEGPU_HOST_ROOT", "/nonexistent", 1);
        key_ = new SigningKey("good@example.com");
        add_kernel(shared());
        createrepo(shared());
    }
    static void TearDownTestSuite() {
        delete key_;
        delete store_;
    }

    /// A repository with the kernel alone, whose packages are not signed.
    static std::filesystem::path shared() { return store_->path() / "shared"; }
    /// A copy of it that a test may add to.
    [[nodiscard]] std::filesystem::path own() const {
        std::filesystem::path path = work_.path() / "own";
        if (!std::filesystem::exists(path)) {
            std::filesystem::copy(shared(), path, std::filesystem::copy_options::recursive);
        }
        return path;
    }
    static std::filesystem::path rpm_of(const std::filesystem::path& repository,
                                        const std::string& name) {
        return repository / "Packages" / (name + "-1-1.x86_64.rpm");
    }
    static const SigningKey& key() { return *key_; }

    /// The blueprint that takes `package` from `repository`; `keys` are lines of its table.
    void blueprint(const std::filesystem::path& repository, const std::string& package = "",
                   const std::string& keys = "gpgcheck = false\n") const {
        std::string text =
            "name = \"bad\"\nversion = \"1\"\narchitecture = \"x86_64\"\n"
            "[ostree]\nref = \"a/b\"\n"
            "[[repositories]]\nid = \"base\"\nbaseurl = \"file://" +
            repository.string() + "\"\nrepo_gpgcheck = false\n" + keys;
        if (!package.empty()) {
            text += "[[packages]]\nname = \"" + package + "\"\n";
        }
        text += "[accounts]\nlogin = \"none\"\n";
        write_file(blueprint_path(), text);
    }
    [[nodiscard]] std::filesystem::path blueprint_path() const { return work_.path() / "bad.toml"; }
    [[nodiscard]] std::filesystem::path repo() const { return work_.path() / "repo"; }

    /// Runs `edgegpu build`; everything it prints, the status in status_. Without the warning of a
    /// repository of which nothing is verified, which comes first.
    std::string build(const std::filesystem::path& repo, const std::string& more = "") {
        std::string said = output_of(std::string(EDGEGPU_BINARY) + " --quiet --color never build " +
                                         blueprint_path().string() + " --repo " + repo.string() +
                                         " --cache-dir " + (work_.path() / "cache").string() +
                                         " --lock " + (work_.path() / "lock").string() + " " + more,
                                     &status_);
        const std::string warning = "warning: " + blueprint_path().string() +
                                    ":6:1: nothing of repository \"base\" is verified";
        return said.starts_with(warning) ? said.substr(said.find('\n') + 1) : said;
    }
    std::string build() { return build(repo()); }

    /// The line of an error that says where the repository stands in the blueprint.
    [[nodiscard]] std::string defined() const {
        return "  repository defined at " + blueprint_path().string() + ":6:1\n";
    }
    /// The line of an error that says what was being done.
    [[nodiscard]] std::string during(const std::string& doing) const {
        return "  while " + doing + " " + blueprint_path().string() + "\n";
    }
    /// The error for a kernel that is not what the metadata of own() promise.
    [[nodiscard]] std::string mismatch(const std::filesystem::path& rpm) const {
        const std::filesystem::path promised = shared() / kernel_rpm;
        return fmt::format(
            "error: package kernel-core-6.1.0-1.x86_64: {} bytes with SHA-256 {}, but repository "
            "'base' promises {} bytes with {}\n  file {}\n{}hint: the file was truncated or "
            "changed "
            "after the repository's metadata were made; remove it if it is in the cache, or have "
            "the repository metadata regenerated\n",
            std::filesystem::file_size(rpm), sha256_file(rpm), std::filesystem::file_size(promised),
            sha256_file(promised), rpm.string(), during("fetching the packages of"));
    }

    TemporaryDirectory work_;
    int status_ = -1;

private:
    inline static TemporaryDirectory* store_ = nullptr;
    inline static SigningKey* key_ = nullptr;
};

}  // namespace edgegpu::test
