#include "image/deflate_ahead.hpp"

#include <atomic>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "image/deflate.hpp"
#include "support/commit_fixture.hpp"
#include "support/error.hpp"

namespace edgegpu {
namespace {

using test::CommitFixture;

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
    ahead.finish();
}

TEST(DeflateAhead, NothingToDoIsFinishedAtOnce) {
    DeflateAhead().finish();
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

int streams_of(const Context& ctx, const Tree& tree) {
    const DeflateStreams streams(ctx);
    int found = 0;
    for (const auto& [path, entry] : tree.entries) {
        found += entry.type == EntryType::file && streams.has(entry) ? 1 : 0;
    }
    return found;
}

TEST(DeflateAhead, AnErrorElsewhereDoesNotWaitForAllOfIt) {
    CommitFixture fixture;
    const Context ctx = fill_slowly(fixture);
    { const DeflateAhead dropped(ctx, fixture.tree.entries); }
    EXPECT_LT(streams_of(ctx, fixture.tree), slow_files);
}

TEST(DeflateAhead, CtrlCEndsTheWait) {
    CommitFixture fixture;
    Context ctx = fill_slowly(fixture);
    const std::atomic<bool> cancelled{true};
    ctx.cancelled = &cancelled;
    ErrorKind kind{};
    try {
        DeflateAhead(ctx, fixture.tree.entries).finish();
    } catch (const Error& problem) {
        kind = problem.kind();
    }
    EXPECT_EQ(kind, ErrorKind::interrupted);
    EXPECT_LT(streams_of(ctx, fixture.tree), slow_files);
}

}  // namespace
}  // namespace edgegpu
