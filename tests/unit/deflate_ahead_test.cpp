#include "image/deflate_ahead.hpp"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "image/deflate.hpp"
#include "support/commit_fixture.hpp"
#include "support/error.hpp"

namespace edgegpu {
namespace {

using test::CommitFixture;

int streams_of(const Context& ctx, const Tree& tree) {
    const DeflateStreams streams(ctx);
    int found = 0;
    for (const auto& [path, entry] : tree.entries) {
        found += entry.type == EntryType::file && streams.has(entry) ? 1 : 0;
    }
    return found;
}

TEST(DeflateAhead, HasEveryStreamWhenItIsFinished) {
    CommitFixture fixture;
    for (int i = 0; i < 50; ++i) {
        fixture.add_file("/usr/lib/" + std::to_string(i),
                         std::to_string(i) + std::string(20000, 'x'));
    }
    DeflateAhead ahead;
    ahead = DeflateAhead(fixture.ctx(), fixture.tree.entries);
    ahead.finish();
    const DeflateStreams streams(fixture.ctx());
    for (const auto& [path, entry] : fixture.tree.entries) {
        if (entry.type == EntryType::file) {
            EXPECT_EQ(streams.has(entry), entry.size >= smallest_cached_stream) << path;
        }
    }
    EXPECT_EQ(streams_of(fixture.ctx(), fixture.tree), 50);
    // Once more is nothing more: what is removed meanwhile is not made again.
    std::filesystem::remove_all(fixture.ctx().cache / "deflate");
    ahead.finish();
    EXPECT_EQ(streams_of(fixture.ctx(), fixture.tree), 0);
}

TEST(DeflateAhead, NothingToDoMakesNothing) {
    CommitFixture fixture;
    fixture.add_file("/usr/lib/f", std::string(20000, 'x'));
    DeflateAhead().finish();
    DeflateAhead(fixture.ctx(), {}).finish();
    EXPECT_EQ(streams_of(fixture.ctx(), fixture.tree), 0);
}

TEST(DeflateAhead, FinishThrowsWhatStoppedIt) {
    CommitFixture fixture;
    const Entry entry = fixture.add_file("/usr/lib/f", std::string(20000, 'x'));
    std::ofstream(entry.content, std::ios::binary) << std::string(20000, 'y');
    DeflateAhead ahead(fixture.ctx(), fixture.tree.entries);
    EXPECT_THROW(ahead.finish(), Error);
}

constexpr int slow_files = 120;

/// The fixture's context at the highest level, at which these files take tens of seconds.
Context fill_slowly(CommitFixture& fixture) {
    std::string content;
    for (unsigned i = 0; content.size() < (512U << 10U); ++i) {
        content += std::to_string(i * 2654435761U);
    }
    for (int i = 0; i < slow_files; ++i) {
        fixture.add_file("/usr/lib/" + std::to_string(i), std::to_string(i) + content);
    }
    Context ctx = fixture.ctx();
    ctx.deflate_level = 12;
    return ctx;
}

/// Returns when the first of them is made.
void wait_for_a_stream(const Context& ctx, const Tree& tree) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (streams_of(ctx, tree) == 0 && std::chrono::steady_clock::now() < limit) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ASSERT_GT(streams_of(ctx, tree), 0);
}

TEST(DeflateAhead, AnErrorElsewhereDoesNotWaitForAllOfIt) {
    CommitFixture fixture;
    const Context ctx = fill_slowly(fixture);
    {
        const DeflateAhead dropped(ctx, fixture.tree.entries);
        wait_for_a_stream(ctx, fixture.tree);
    }
    EXPECT_LT(streams_of(ctx, fixture.tree), slow_files);
}

TEST(DeflateAhead, CtrlCEndsTheWait) {
    CommitFixture fixture;
    Context ctx = fill_slowly(fixture);
    std::atomic<bool> cancelled{false};
    ctx.cancelled = &cancelled;
    DeflateAhead ahead(ctx, fixture.tree.entries);
    wait_for_a_stream(ctx, fixture.tree);
    cancelled = true;
    ErrorKind kind{};
    try {
        ahead.finish();
    } catch (const Error& problem) {
        kind = problem.kind();
    }
    EXPECT_EQ(kind, ErrorKind::interrupted);
    EXPECT_LT(streams_of(ctx, fixture.tree), slow_files);
}

}  // namespace
}  // namespace edgegpu
