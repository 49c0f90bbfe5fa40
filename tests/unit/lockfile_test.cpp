#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "resolve/resolution.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace edgegpu {
namespace {

class Lockfile : public testing::Test {
protected:
    void SetUp() override {
        path_ = std::filesystem::temp_directory_path() /
                ("edgegpu-lock." + std::to_string(::getpid()) + ".toml");
    }
    void TearDown() override { std::filesystem::remove(path_); }

    /// The message and traces with which reading `content` fails.
    std::string failure(const std::string& content) {
        write_file(path_, content);
        try {
            (void)read_lockfile(path_);
        } catch (const Error& problem) {
            EXPECT_EQ(problem.kind(), ErrorKind::usage);
            return problem.message();
        }
        return "no error";
    }

    std::filesystem::path path_;
};

Resolution example_resolution() {
    Resolution resolution;
    resolution.kernel = {"kernel-core", 0, "6.1.0", "50.el9", "x86_64"};
    resolution.kernel_uname = "6.1.0-50.el9.x86_64";
    resolution.driver_version = "535.261.03";
    resolution.repositories.push_back({"baseos", std::string(64, 'a'), 1700000000});
    resolution.modules.push_back({"nvidia-driver", "535", "20240101000000", "1234e56789"});
    resolution.packages.push_back({resolution.kernel,
                                   "baseos",
                                   "Packages/k.rpm",
                                   {ChecksumAlgorithm::sha256, std::string(64, 'b')},
                                   17,
                                   1700000001,
                                   "",
                                   "kernel",
                                   ""});
    resolution.packages.push_back({{"x", 3, "1~rc1^git", "1", "noarch"},
                                   "baseos",
                                   "Packages/x.rpm",
                                   {ChecksumAlgorithm::sha512, std::string(128, 'c')},
                                   18,
                                   1700000002,
                                   "nvidia-driver:535:20240101000000:1234e56789",
                                   "required by \"quoted\\name\"\n",
                                   "https://example.invalid/other"});
    return resolution;
}

TEST_F(Lockfile, ReadsBackWhatWasWritten) {
    const Resolution written = example_resolution();
    write_lockfile(path_, written);
    const Resolution read = read_lockfile(path_);
    EXPECT_EQ(read.kernel, written.kernel);
    EXPECT_EQ(read.kernel_uname, written.kernel_uname);
    EXPECT_EQ(read.driver_version, written.driver_version);
    ASSERT_EQ(read.modules.size(), 1U);
    EXPECT_EQ(read.modules[0].context, "1234e56789");
    ASSERT_EQ(read.repositories.size(), 1U);
    EXPECT_EQ(read.repositories[0].revision_time, 1700000000);
    ASSERT_EQ(read.packages.size(), 2U);
    EXPECT_EQ(read.packages[1].nevra, written.packages[1].nevra);
    EXPECT_EQ(read.packages[1].module, written.packages[1].module);
    EXPECT_EQ(read.packages[1].why, written.packages[1].why);
    EXPECT_EQ(read.packages[0].size, 17U);
    EXPECT_EQ(read.packages[0].checksum.text(), "sha256:" + std::string(64, 'b'));
    EXPECT_EQ(read.packages[0].base, "");
    EXPECT_EQ(read.packages[1].checksum.text(), "sha512:" + std::string(128, 'c'));
    EXPECT_EQ(read.packages[1].base, "https://example.invalid/other");
}

TEST_F(Lockfile, WritesTheSameBytesForTheSameResolution) {
    write_lockfile(path_, example_resolution());
    const std::string first = read_file(path_);
    write_lockfile(path_, read_lockfile(path_));
    EXPECT_EQ(read_file(path_), first);
}

TEST_F(Lockfile, NamesFileAndLineOfASyntaxError) {
    EXPECT_TRUE(failure("format = 1\nkernel_uname = \n").starts_with(path_.string() + ":2: "));
}

TEST_F(Lockfile, NamesFileAndLineOfABadDigest) {
    write_lockfile(path_, example_resolution());
    std::string content = read_file(path_);
    content.replace(content.find(std::string(64, 'b')), 64, std::string(64, 'Z'));
    EXPECT_EQ(failure(content), path_.string() + ":32: 'checksum' is none: '" +
                                    std::string(64, 'Z') +
                                    "' is not a sha256 checksum of 64 hexadecimal digits");
}

TEST_F(Lockfile, RefusesALocationOutsideTheRepository) {
    write_lockfile(path_, example_resolution());
    std::string content = read_file(path_);
    const std::string location = "Packages/k.rpm";
    content.replace(content.find(location), location.size(), "/etc/x");
    EXPECT_EQ(failure(content),
              path_.string() + ":31: 'location' is not a path inside the repository");
}

TEST_F(Lockfile, ReadsTheSha256OfOlderVersions) {
    write_lockfile(path_, example_resolution());
    std::string content = read_file(path_);
    const std::string now = "checksum = \"sha256:";
    content.replace(content.find(now), now.size(), "sha256 = \"");
    write_file(path_, content);
    EXPECT_EQ(read_lockfile(path_).packages[0].checksum.text(), "sha256:" + std::string(64, 'b'));
    content.replace(content.find(std::string(64, 'b')), 64, std::string(64, 'Z'));
    EXPECT_EQ(failure(content), path_.string() + ":32: 'sha256' is not a SHA-256");
}

TEST_F(Lockfile, RefusesAnotherFormat) {
    EXPECT_EQ(failure("format = 2\n"),
              path_.string() + ":1: 'format' is not one this edgegpu knows (1)");
}

}  // namespace
}  // namespace edgegpu
