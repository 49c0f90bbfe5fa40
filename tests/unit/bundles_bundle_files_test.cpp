#include "bundles/bundle_files.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "../support/rpm_fixture.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu::test {
namespace {

using testing::HasSubstr;

class BundleFilesTest : public testing::Test {
protected:
    [[nodiscard]] BundleFiles read() const {
        return read_bundle_files("app", directory_.path(), {"b.toml", 3, 12});
    }
    [[nodiscard]] std::string failure() const {
        try {
            (void)read();
        } catch (const Error& problem) {
            EXPECT_EQ(problem.kind(), ErrorKind::usage);
            return problem.render();
        }
        return "none";
    }
    [[nodiscard]] std::filesystem::path at(const std::string& name) const {
        return directory_.path() / name;
    }

    TemporaryDirectory directory_;
};

TEST_F(BundleFilesTest, AreRead) {
    make_directories(at("base/empty"));
    write_file(at("base/a.yaml"), "a");
    write_file(at("kustomization.yaml"), "");
    const BundleFiles bundle = read();
    EXPECT_EQ(bundle.files, (std::map<std::string, std::string>{{"base/a.yaml", "a"},
                                                                {"kustomization.yaml", ""}}));
    EXPECT_EQ(bundle.path_of("base/a.yaml"), at("base/a.yaml").string());
    EXPECT_EQ(bundle.title(), "b.toml:3:12: bundle \"app\"");
    const std::string before = bundle.digest();
    write_file(at("base/a.yaml"), "b");
    EXPECT_NE(read().digest(), before);
}

TEST_F(BundleFilesTest, LinksAndDevicesAreRefused) {
    std::filesystem::create_symlink("/etc/passwd", at("passwd.yaml"));
    EXPECT_THAT(failure(), HasSubstr(at("passwd.yaml").string() + ": is a symbolic link"));
    EXPECT_THAT(failure(), HasSubstr("in bundle \"app\" of b.toml:3:12"));
    std::filesystem::remove(at("passwd.yaml"));
    std::filesystem::create_symlink(".", at("loop"));
    EXPECT_THAT(failure(), HasSubstr("is a symbolic link"));
    std::filesystem::remove(at("loop"));
    ASSERT_EQ(::mkfifo(at("fifo").c_str(), 0600), 0);
    EXPECT_THAT(failure(), HasSubstr("is a fifo"));
}

TEST_F(BundleFilesTest, WhatIsNotThere) {
    std::filesystem::remove(directory_.path());
    EXPECT_THAT(failure(), HasSubstr("No such file or directory"));
    write_file(directory_.path(), "");
    EXPECT_THAT(failure(), HasSubstr("Not a directory"));
    std::filesystem::remove(directory_.path());
    make_directories(directory_.path());
}

TEST_F(BundleFilesTest, TooMuchIsRefused) {
    write_file(at("large.yaml"), "");
    ASSERT_EQ(::truncate(at("large.yaml").c_str(), 1LL << 40U), 0);
    EXPECT_THAT(failure(), HasSubstr("more than 4096 files or 32 MiB"));
    std::filesystem::remove(at("large.yaml"));
    for (int i = 0; i <= 4096; ++i) {
        write_file(at(std::to_string(i)), "");
    }
    EXPECT_THAT(failure(), HasSubstr("more than 4096 files or 32 MiB"));
}

}  // namespace
}  // namespace edgegpu::test
