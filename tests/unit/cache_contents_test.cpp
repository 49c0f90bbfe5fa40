#include "cache/cache_contents.hpp"

#include <array>
#include <ctime>
#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "cache/cache_lock.hpp"
#include "cache/last_use.hpp"
#include "support/files/file.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;

class CacheContents : public testing::Test {
protected:
    CacheContents() {
        ctx_.cache = directory_.path() / "cache";
        make_directories(ctx_.cache);
    }

    void set_age(const fs::path& path, std::chrono::seconds age) const {
        const std::time_t then = std::time(nullptr) - age.count();
        const std::array<struct timespec, 2> times{{{then, 0}, {then, 0}}};
        ASSERT_EQ(::utimensat(AT_FDCWD, (ctx_.cache / path).c_str(), times.data(), 0), 0);
    }
    /// A file of so many KiB that was used so long ago.
    void make(const fs::path& path, std::size_t kib, std::chrono::seconds age) const {
        make_directories((ctx_.cache / path).parent_path());
        write_file(ctx_.cache / path, std::string(kib << 10U, 'x'));
        set_age(path, age);
    }
    [[nodiscard]] bool has(const fs::path& path) const { return fs::exists(ctx_.cache / path); }
    [[nodiscard]] std::set<std::string> prune(const PruneLimits& limits) const {
        std::set<std::string> names;
        for (const CachedItem& item : prune_cache(ctx_, limits)) {
            names.insert(item.path.lexically_relative(ctx_.cache).string());
        }
        return names;
    }
    static PruneLimits size(std::uint64_t kib) {
        PruneLimits limits;
        limits.max_size = kib << 10U;
        return limits;
    }
    static PruneLimits unused(std::chrono::seconds time) {
        PruneLimits limits;
        limits.unused_for = time;
        return limits;
    }

    test::TemporaryDirectory directory_;
    Context ctx_;
};

TEST_F(CacheContents, IsListedByKind) {
    make("packages/ab.rpm", 100, hours(1));
    make("packages/cd.rpm", 50, hours(3));
    make("imports/ab/files/0", 200, hours(9));
    make("imports/ab/manifest", 1, hours(2));
    make("content/ab/cdef", 10, hours(5));
    make("imports/.new-cd/files/0", 10, hours(5));
    const std::vector<CachedItem> items = list_cache(ctx_);
    ASSERT_EQ(items.size(), 4U);
    const std::int64_t now = std::time(nullptr);
    for (const CacheSummary& kind : summarise(items)) {
        const std::size_t expected = kind.kind == "packages"                            ? 2
                                     : kind.kind == "imports" || kind.kind == "content" ? 1
                                                                                        : 0;
        EXPECT_EQ(kind.items, expected) << kind.kind;
        if (kind.kind == "packages") {
            EXPECT_NEAR(static_cast<double>(*kind.last_use), static_cast<double>(now - 3600), 5);
            EXPECT_GE(kind.size, 150U << 10U);
            EXPECT_LT(kind.size, 170U << 10U);
        } else if (kind.kind == "imports") {
            EXPECT_NEAR(static_cast<double>(*kind.last_use), static_cast<double>(now - 7200), 5);
            EXPECT_GE(kind.size, 201U << 10U);
        } else if (expected == 0) {
            EXPECT_FALSE(kind.last_use);
        }
    }
}

TEST_F(CacheContents, TheLeastRecentlyUsedGoesFirst) {
    make("packages/old.rpm", 100, hours(30));
    make("imports/middle/manifest", 100, hours(20));
    make("kmods/young/seal", 100, hours(10));
    PruneLimits limits = size(250);
    limits.dry_run = true;
    EXPECT_EQ(prune(limits), (std::set<std::string>{"packages/old.rpm"}));
    EXPECT_TRUE(has("packages/old.rpm"));
    EXPECT_EQ(prune(size(250)), (std::set<std::string>{"packages/old.rpm"}));
    EXPECT_FALSE(has("packages/old.rpm"));
    EXPECT_EQ(prune(size(250)), (std::set<std::string>{}));
    EXPECT_EQ(prune(size(0)), (std::set<std::string>{"imports/middle", "kmods/young"}));
    EXPECT_TRUE(fs::is_empty(ctx_.cache / "imports"));
}

TEST_F(CacheContents, WhatWasNotUsedForSoLongGoes) {
    make("deflate/ab/old", 1, hours(31 * 24));
    make("deflate/ab/young", 1, hours(29 * 24));
    EXPECT_EQ(prune(unused(hours(30 * 24))), (std::set<std::string>{"deflate/ab/old"}));
}

TEST_F(CacheContents, UseIsRecorded) {
    make("deflate/ab/old", 1, hours(31 * 24));
    EXPECT_TRUE(mark_used(ctx_, ctx_.cache / "deflate/ab/old"));
    EXPECT_FALSE(mark_used(ctx_, ctx_.cache / "deflate/ab/none"));
    EXPECT_EQ(prune(unused(hours(1))), (std::set<std::string>{}));
    // A clock that was wrong.
    make("deflate/ab/future", 1, hours(-500));
    EXPECT_TRUE(mark_used(ctx_, ctx_.cache / "deflate/ab/future"));
    EXPECT_LE(list_cache(ctx_).front().last_use, std::time(nullptr));
}

TEST_F(CacheContents, WhatARunningBuildUsedStays) {
    make("packages/used.rpm", 1, hours(100));
    make("packages/other.rpm", 1, hours(100));
    make("packages/just.rpm", 1, std::chrono::minutes(5));
    auto running = std::make_unique<CacheLock>(ctx_, CacheUse::build);
    ASSERT_TRUE(mark_used(ctx_, ctx_.cache / "packages/used.rpm"));
    ASSERT_TRUE(mark_used(ctx_, ctx_.cache / "packages/just.rpm"));
    EXPECT_EQ(prune(size(0)), (std::set<std::string>{"packages/other.rpm"}));
    EXPECT_TRUE(has("work/0.lock"));
    running.reset();
    EXPECT_TRUE(prune(size(0)).contains("packages/used.rpm"));
    EXPECT_FALSE(has("packages/just.rpm"));
}

TEST_F(CacheContents, RootOfASlotGoesWithItsImports) {
    { const CacheLock lock(ctx_, CacheUse::build); }
    make("imports/ab/manifest", 1, hours(100));
    make("work/0/lower/file", 1, hours(1));
    EXPECT_EQ(prune(unused(hours(50))), (std::set<std::string>{"imports/ab", "work/0"}));
    EXPECT_FALSE(has("work/0"));
    make("imports/cd/manifest", 1, hours(100));
    make("work/0/lower/file", 1, hours(100));
    const CacheLock running(ctx_, CacheUse::build);
    EXPECT_EQ(prune(unused(hours(50))), (std::set<std::string>{"imports/cd"}));
    EXPECT_TRUE(has("work/0/lower/file"));
}

TEST_F(CacheContents, FilesOfImportsAndRootsCountOnce) {
    { const CacheLock lock(ctx_, CacheUse::build); }
    make("imports/ab/manifest", 1, hours(100));
    make("imports/ab/files/0", 200, hours(100));
    make("work/0/lower/own", 1, hours(1));
    fs::create_hard_link(ctx_.cache / "imports/ab/files/0", ctx_.cache / "work/0/lower/0");
    PruneLimits limits = unused(hours(50));
    limits.dry_run = true;
    const std::uint64_t shown = total_size(prune_cache(ctx_, limits));
    EXPECT_TRUE(has("imports/ab") && has("work/0"));
    limits.dry_run = false;
    EXPECT_EQ(total_size(prune_cache(ctx_, limits)), shown);
    EXPECT_GE(shown, 202U << 10U);
    EXPECT_LT(shown, 300U << 10U);
    EXPECT_FALSE(has("imports/ab") || has("work/0"));
}

TEST_F(CacheContents, LinksAreRemovedAndNotFollowed) {
    const fs::path outside = directory_.path() / "outside";
    make_directories(outside);
    write_file(outside / "file", "precious");
    make_directories(ctx_.cache / "imports");
    fs::create_directory_symlink(outside, ctx_.cache / "imports/link");
    static_cast<void>(prune(size(0)));
    EXPECT_EQ(read_file(outside / "file"), "precious");
}

}  // namespace
}  // namespace edgegpu
