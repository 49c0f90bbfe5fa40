#include "cache/cache_directory.hpp"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../support/rpm_fixture.hpp"
#include "compose_fixture.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/text/shell_text.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using test::error_message;

class CacheDirectory : public testing::Test {
protected:
    [[nodiscard]] std::string refusal(const fs::path& wanted,
                                      CacheAccess access = CacheAccess::write) const {
        std::string message = error_message([&] { static_cast<void>(open_cache(wanted, access)); });
        const std::size_t at = message.find(top_.string());
        return at == std::string::npos ? message : message.erase(at, top_.string().size() + 1);
    }
    [[nodiscard]] std::string refusal() const { return refusal(cache_); }

    test::TemporaryDirectory directory_;
    fs::path top_ = fs::canonical(directory_.path());
    fs::path cache_ = top_ / "cache";
};

TEST_F(CacheDirectory, IsMade) {
    EXPECT_EQ(open_cache(cache_ / "a/b/", CacheAccess::write), cache_ / "a/b");
    struct stat status {};
    ASSERT_EQ(::stat((cache_ / "a/b").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777U, 0700U);
}

TEST_F(CacheDirectory, MayBeALinkOfItsUser) {
    make_directories(top_ / "disk");
    fs::create_directory_symlink("disk", cache_);
    EXPECT_EQ(open_cache(cache_, CacheAccess::write), top_ / "disk");
    ASSERT_EQ(::lchown(cache_.c_str(), 1, 1), 0);
    EXPECT_TRUE(refusal().starts_with("the cache cache belongs to ")) << refusal();
    fs::remove(cache_);
    fs::create_directory_symlink("none", cache_);
    EXPECT_EQ(refusal(), "the cache cache is a link to none, which is not a directory");
}

TEST_F(CacheDirectory, LinksInItAreRefused) {
    for (const char* name : {"logs", "lock", "content/ab", "repos/x", "packages/x.rpm"}) {
        fs::remove_all(cache_);
        make_directories((cache_ / name).parent_path());
        fs::create_symlink("/etc", cache_ / name);
        EXPECT_EQ(refusal(), "the cache cache/" + std::string(name) +
                                 " is a symbolic link, which edgegpu does not make there");
    }
}

TEST_F(CacheDirectory, WhatOthersCanWriteIsRefused) {
    for (const char* name : {"", "content", "content/ab"}) {
        fs::remove_all(cache_);
        make_directories(cache_ / name);
        ASSERT_EQ(::chmod((cache_ / name).c_str(), 0757), 0);
        EXPECT_TRUE(refusal().ends_with("can be written by everybody")) << refusal();
        ASSERT_EQ(::chmod((cache_ / name).c_str(), 0755), 0);
        EXPECT_EQ(refusal(), "");
        ASSERT_EQ(::chown((cache_ / name).c_str(), 0, 0), 0);
        EXPECT_TRUE(refusal().ends_with("belongs to root")) << refusal();
    }
    fs::remove_all(cache_);
    make_directories(cache_);
    write_file(cache_ / "owner", "x", 0666);
    EXPECT_EQ(refusal(), "the cache cache/owner can be written by everybody");
}

TEST_F(CacheDirectory, WhatIsToBeTypedIsQuoted) {
    const fs::path odd = top_ / "it's a cache";
    make_directories(odd);
    ASSERT_EQ(::chmod(odd.c_str(), 0757), 0);
    try {
        static_cast<void>(open_cache(odd, CacheAccess::write));
        ADD_FAILURE() << "opened";
    } catch (const Error& caught) {
        const std::string word = shell_word(odd.string());
        EXPECT_EQ(caught.hint(), "chmod go-w " + word +
                                     ", if nobody else has written to it; else choose another "
                                     "--cache-dir, or remove this one: sudo rm -rf " +
                                     word);
    }
}

TEST_F(CacheDirectory, WhatImagesOwnIsNot) {
    make_directories(cache_ / "imports/0123/files");
    ASSERT_EQ(::chown((cache_ / "imports/0123/files").c_str(), 0, 0), 0);
    EXPECT_EQ(refusal(), "");
}

TEST_F(CacheDirectory, SomethingElseThanADirectoryIsRefused) {
    write_file(cache_, "");
    EXPECT_NE(refusal(), "");
}

}  // namespace
}  // namespace edgegpu
