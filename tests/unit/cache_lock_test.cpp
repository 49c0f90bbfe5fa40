#include "support/cache_lock.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/error.hpp"
#include "support/file.hpp"
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

    /// The pid of a process that is gone.
    static pid_t dead_pid() {
        const pid_t child = ::fork();
        if (child == 0) {
            ::_exit(0);
        }
        ::waitpid(child, nullptr, 0);
        return child;
    }

    test::TemporaryDirectory directory_;
    Context ctx_;
};

TEST_F(CacheLockTest, SecondBuildIsRefusedWithTheNameOfTheFirst) {
    const CacheLock first(ctx_);
    try {
        const CacheLock second(ctx_);
        FAIL() << "two builds hold one cache";
    } catch (const Error& refused) {
        EXPECT_EQ(refused.exit_status(), 1);
        EXPECT_EQ(refused.render(),
                  fmt::format("error: {}: another build (pid {}) uses this cache now\nhint: wait "
                              "for it to end, or give each build its own --cache-dir\n",
                              ctx_.cache.string(), ::getpid()));
    }
}

TEST_F(CacheLockTest, KilledBuildLeavesNothingUnfinished) {
    make("lock");  // not empty: its build did not end in order
    const std::string gone = std::to_string(dead_pid());
    for (const std::string& file :
         {std::string("content/ab/.new-1-2"), std::string("content/ab/cdef.Xy12Zw"),
          "repos/base-1234/part." + gone + "/repodata/primary.xml",
          "repos/base-1234/abcd/solv." + gone, std::string("imports/.new-7-abcd/files/0"),
          std::string("work/policy-aB3dE6/file"), std::string("work/initramfs-17/initramfs.img"),
          std::string("initramfs/abcd/ef01.manifest.aaaaaa")}) {
        make(file);
    }
    for (const char* file : {"content/ab/cdef", "packages/abcd.rpm.part", "packages/abcd.rpm",
                             "repos/base-1234/current", "imports/abcd/files/name.abcdef",
                             "initramfs/abcd/ef01.manifest", "work/lower/usr/file",
                             "work/lower.index", "work/sandbox-1234/complete"}) {
        make(file);
    }
    make(fmt::format("repos/base-1234/solv.{}", ::getpid()));
    { const CacheLock lock(ctx_); }
    std::vector<std::string> files;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(ctx_.cache)) {
        if (entry.is_regular_file()) {
            files.push_back(entry.path().lexically_relative(ctx_.cache).string());
        }
    }
    std::sort(files.begin(), files.end());
    const std::vector<std::string> expected{"content/ab/cdef",
                                            "imports/abcd/files/name.abcdef",
                                            "initramfs/abcd/ef01.manifest",
                                            "lock",
                                            "packages/abcd.rpm",
                                            "packages/abcd.rpm.part",
                                            "repos/base-1234/current",
                                            fmt::format("repos/base-1234/solv.{}", ::getpid()),
                                            "work/lower.index",
                                            "work/lower/usr/file",
                                            "work/sandbox-1234/complete"};
    EXPECT_EQ(files, expected);
    EXPECT_EQ(fs::file_size(ctx_.cache / "lock"), 0U);
}

TEST_F(CacheLockTest, AfterABuildThatEndedNothingIsSearched) {
    { const CacheLock lock(ctx_); }
    make("content/ab/cdef.Xy12Zw");
    { const CacheLock lock(ctx_); }
    EXPECT_TRUE(has("content/ab/cdef.Xy12Zw"));
}

TEST_F(CacheLockTest, CacheThatCannotBeWrittenIsNamed) {
    make_directories(ctx_.cache / "lock");
    EXPECT_THROW({ const CacheLock lock(ctx_); }, Error);
}

}  // namespace
}  // namespace edgegpu
