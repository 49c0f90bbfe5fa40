#pragma once

#include <filesystem>
#include <string_view>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compose_fixture.hpp"
#include "image/tree.hpp"
#include "support/files/file.hpp"

namespace edgegpu::test {

namespace fs = std::filesystem;

/// What scriptlets can leave behind in the image's root, in the upper layer and in the record of
/// the shims: nothing of it may lead to the builder's files, which are outside.
class ComposeHostile : public ::testing::Test {
protected:
    ComposeHostile() {
        fs::create_directories(outside_ / "etc");
        write_file(outside_ / "etc/key", "secret", 0600);
        fs::create_directories(tree_.root = top_ / "root");
        fs::create_directories(tree_.upper = top_ / "upper");
        tree_.entries["/"] = directory_entry(0755);
    }

    ~ComposeHostile() override {
        EXPECT_EQ(read_file(outside_ / "etc/key"), "secret");
        struct stat status {};
        EXPECT_EQ(::stat((outside_ / "etc/key").c_str(), &status), 0);
        EXPECT_EQ(status.st_mode & 07777U, 0600U);
        EXPECT_NE(status.st_uid, 12U);
        EXPECT_EQ(std::distance(fs::directory_iterator(outside_ / "etc"), {}), 1);
        remove_tree(top_);
    }

    void link(const fs::path& target, const fs::path& path) {
        ASSERT_EQ(::symlink(target.c_str(), path.c_str()), 0) << path;
    }

    [[nodiscard]] Entry file(std::string_view content, unsigned mode = 0644) const {
        return make_file_entry(fixture_.context, content, mode);
    }

    ComposeFixture fixture_;
    fs::path top_ = fixture_.directory.path() / "hostile";
    fs::path outside_ = fixture_.directory.path() / "outside";
    Tree tree_;
};

}  // namespace edgegpu::test
