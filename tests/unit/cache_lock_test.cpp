#include "cache/cache_lock.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

class CacheLockTest : public testing::Test {
protected:
    CacheLockTest() { ctx_.cache = directory_.path() / "cache"; }

    void make(const std::string& file) const {
        make_directories((ctx_.cache / file).parent_path());
        write_file(ctx_.cache / file, "x");
    }
    [[nodiscard]] bool has(const std::string& file) const { return fs::exists(ctx_.cache / file); }

    [[nodiscard]] CacheLock use(const std::string& owner = "100000+65535 ") const {
        return {ctx_, CacheUse::build, owner};
    }
    /// All files of the cache, sorted.
    [[nodiscard]] std::vector<std::string> files() const {
        std::vector<std::string> found;
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator(ctx_.cache)) {
            if (entry.is_regular_file()) {
                found.push_back(entry.path().lexically_relative(ctx_.cache).string());
            }
        }
        std::sort(found.begin(), found.end());
        return found;
    }

    const std::vector<std::string> leftovers{"content/.new-Xy12Zw",
                                             "content/ab/cdef.Xy12Zw",
                                             "repos/base-1234/part.Xy12Zw/repodata/primary.xml",
                                             "repos/base-1234/abcd/primary-1.solv.Xy12Zw",
                                             "packages/abcd.rpm.1.4711",
                                             "imports/.new-abcd/files/0",
                                             "locks/import-abcd",
                                             "initramfs/abcd/ef01.manifest.aaaaaa"};
    const std::vector<std::string> complete{
        "content/ab/cdef",         "imports/abcd/files/name.abcdef", "initramfs/abcd/ef01.manifest",
        "packages/abcd.rpm",       "packages/abcd.rpm.part",         "repos/base-1234/abcd.lock",
        "repos/base-1234/current",
    };
    test::TemporaryDirectory directory_;
    Context ctx_;
};

TEST_F(CacheLockTest, OnlyItsUserCanReachFilesOfImages) {
    make("work/0/lower/usr/bin/su");
    ASSERT_EQ(::chmod((ctx_.cache / "work").c_str(), 0755), 0);
    const CacheLock lock = use();
    for (const char* name : {"work", "imports", "composed"}) {
        struct stat status {};
        ASSERT_EQ(::stat((ctx_.cache / name).c_str(), &status), 0) << name;
        EXPECT_EQ(status.st_mode & 07777U, 0700U) << name;
    }
}

TEST_F(CacheLockTest, EachBuildHasASlot) {
    const CacheLock first = use();
    const CacheLock second = use();
    const CacheLock other(ctx_, CacheUse::resolve);
    EXPECT_EQ(first.slot(), "work/0");
    EXPECT_EQ(second.slot(), "work/1");
    EXPECT_EQ(other.slot(), "work/resolve-0");
}

TEST_F(CacheLockTest, SlotIsFreeAgainAndKeepsTheRoot) {
    {
        const CacheLock lock = use();
        make("work/0/lower/usr/file");
        make("work/0/lower.index");
        make("work/0/policy-aB3dE6/file");
        make("work/0/sandbox-1234/complete");
    }
    const CacheLock lock = use();
    EXPECT_EQ(lock.slot(), "work/0");
    EXPECT_EQ(files(),
              (std::vector<std::string>{"format", "last-use.lock", "lock", "owner", "work/0.lock",
                                        "work/0/lower.index", "work/0/lower/usr/file"}));
}

TEST_F(CacheLockTest, KilledBuildLeavesNothingUnfinished) {
    { const CacheLock lock = use(); }
    write_file(ctx_.cache / "work/0.lock", "4711\n");  // its build did not end in order
    for (const std::string& file : leftovers) {
        make(file);
    }
    for (const std::string& file : complete) {
        make(file);
    }
    make("work/0/policy-aB3dE6/file");
    make("work/0/initramfs-17/initramfs.img");
    make("work/0/lower/usr/file");
    { const CacheLock lock = use(); }
    std::vector<std::string> expected = complete;
    expected.insert(expected.end(), {"format", "last-use.lock", "lock", "owner", "work/0.lock",
                                     "work/0/lower/usr/file"});
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(files(), expected);
    EXPECT_EQ(fs::file_size(ctx_.cache / "lock"), 0U);
    EXPECT_EQ(fs::file_size(ctx_.cache / "work/0.lock"), 0U);
}

TEST_F(CacheLockTest, LeftoversStayWhileOthersBuildAndGoWhenTheyEnded) {
    {
        const CacheLock running = use();
        make("work/1.lock");  // killed
        make("work/1/policy-aB3dE6/file");
        make("imports/.new-abcd/files/0");
        const CacheLock next = use();
        EXPECT_EQ(next.slot(), "work/1");
        EXPECT_FALSE(has("work/1/policy-aB3dE6"));
        EXPECT_TRUE(has("imports/.new-abcd")) << "it may be the running build's";
    }
    const CacheLock alone = use();
    EXPECT_FALSE(has("imports/.new-abcd"));
    EXPECT_FALSE(has("work/killed"));
}

TEST_F(CacheLockTest, AfterABuildThatEndedNothingIsSearched) {
    { const CacheLock lock = use(); }
    make("content/ab/cdef.Xy12Zw");
    { const CacheLock lock = use(); }
    EXPECT_TRUE(has("content/ab/cdef.Xy12Zw"));
}

TEST_F(CacheLockTest, WhatAnotherFormatLeftIsRemovedOnce) {
    for (const char* file : {"composed/ab/records", "kmods/ab/modules", "work/lower/usr/file",
                             "packages/abcd.rpm", "imports/abcd/manifest"}) {
        make(file);
    }
    { const CacheLock lock = use(); }
    EXPECT_FALSE(has("composed/ab"));
    EXPECT_FALSE(has("kmods"));
    EXPECT_FALSE(has("work/lower"));
    EXPECT_TRUE(has("packages/abcd.rpm"));
    make("composed/ab/records");
    { const CacheLock lock = use(); }
    EXPECT_TRUE(has("composed/ab/records"));
}

TEST_F(CacheLockTest, FilesOfOtherOwnersAreRemoved) {
    { const CacheLock lock = use("100000+65535 "); }
    make("imports/abcd/manifest");
    { const CacheLock lock = use("100000+65535 "); }
    EXPECT_TRUE(has("imports/abcd/manifest"));
    { const CacheLock lock = use("200000+65535 "); }
    EXPECT_FALSE(has("imports/abcd/manifest"));
}

TEST_F(CacheLockTest, BuildWithOtherOwnersWaits) {
    auto first = std::make_unique<CacheLock>(use("100000+65535 "));
    make("imports/abcd/manifest");
    auto second = std::async(std::launch::async, [this] {
        const CacheLock lock = use("200000+65535 ");
        return has("imports/abcd/manifest");
    });
    EXPECT_EQ(second.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
    EXPECT_TRUE(has("imports/abcd/manifest"));
    first.reset();
    EXPECT_FALSE(second.get());
}

TEST_F(CacheLockTest, CacheThatCannotBeWrittenIsNamed) {
    make_directories(ctx_.cache / "lock");
    EXPECT_THROW({ const CacheLock lock = use(); }, Error);
}

}  // namespace
}  // namespace edgegpu
