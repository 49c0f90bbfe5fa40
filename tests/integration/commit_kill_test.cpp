#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <random>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/commit_fixture.hpp"
#include "support/error.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using test::CommitFixture;
using test::output_of;

// The whole build is killed in every stage by `kill_test`; here, the few milliseconds between the
// complete commit, the ref and the summary, which it seldom meets.
constexpr unsigned kills = 12;
// Microseconds in which ref and summary are written.
constexpr double range = 3000;

// Content of its own for each round, so that every round writes objects, small and large.
void fill(CommitFixture& fixture, unsigned round) {
    for (unsigned i = 0; i < 150; ++i) {
        const std::string content(i * 97 % 30000, static_cast<char>('a' + i % 26));
        fixture.add_file(fmt::format("/usr/lib/f{}", i), fmt::format("{} {}", round, content));
    }
    fixture.blueprint.version = std::to_string(round);
}

// Runs one build in a child, killed `limit` after the commit was complete and only ref and summary
// were left to write; without a limit it is left alone. Returns whether it ended by itself.
bool build_in_child(CommitFixture& fixture, unsigned round,
                    std::optional<std::chrono::microseconds> limit = std::nullopt) {
    const pid_t child = ::fork();
    if (child == 0) {
        try {
            (void)fixture.build(std::to_string(round));
            ::_exit(0);
        } catch (const Error& caught) {
            const std::string text = caught.render();
            (void)!::write(STDERR_FILENO, text.data(), text.size());
            ::_exit(1);
        }
    }
    const fs::path marker = fixture.repo() / "edgegpu-locks/lab%2F12%2Fx86_64%2Fedge.summary";
    std::optional<std::chrono::steady_clock::time_point> end;
    int status = -1;
    while (::waitpid(child, &status, WNOHANG) == 0) {
        const auto now = std::chrono::steady_clock::now();
        if (limit && !end && fs::exists(marker)) {
            end = now + *limit;
        } else if (end && now >= *end) {
            ::kill(child, SIGKILL);
            ::waitpid(child, &status, 0);
            break;
        }
        std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    if (WIFEXITED(status)) {
        EXPECT_EQ(WEXITSTATUS(status), 0) << "round " << round;
        return true;
    }
    return false;
}

std::string ref_of(const CommitFixture& fixture) {
    return output_of("ostree --repo=" + fixture.repo().string() + " rev-parse " +
                     fixture.blueprint.ostree.ref);
}

std::string version_of(const CommitFixture& fixture) {
    return output_of("ostree --repo=" + fixture.repo().string() +
                     " show --print-metadata-key=version " + fixture.blueprint.ostree.ref);
}

TEST(CommitKill, OldRefOrNewAndBothComplete) {
    CommitFixture fixture;
    fill(fixture, 0);
    ASSERT_TRUE(build_in_child(fixture, 0));
    // A killed process loses nothing it wrote: without the waiting for the disk, more of the kills
    // fall between two steps.
    (void)output_of("ostree --repo=" + fixture.repo().string() + " config set core.fsync false");
    std::mt19937 random(20240229);
    std::uniform_real_distribution<double> share(0.0, 1.0);
    unsigned killed = 0;
    unsigned new_refs = 0;
    for (unsigned round = 1; killed < kills && round < 10 * kills; ++round) {
        fill(fixture, round);
        const std::string before = ref_of(fixture);
        const auto limit = std::chrono::microseconds(static_cast<long>(share(random) * range));
        const bool ended = build_in_child(fixture, round, limit);
        const std::string after = ref_of(fixture);
        killed += ended ? 0 : 1;
        new_refs += !ended && after != before ? 1 : 0;
        if (after == before) {
            EXPECT_FALSE(ended);
        } else {
            EXPECT_EQ(version_of(fixture), fmt::format("'{}'\n", round));
        }
        int status = -1;
        const std::string checked =
            output_of("ostree --repo=" + fixture.repo().string() + " fsck -q", &status);
        ASSERT_EQ(status, 0) << "round " << round << " after " << limit.count()
                             << " us: " << checked;
        if (after == before) {
            ASSERT_TRUE(build_in_child(fixture, round));
            EXPECT_EQ(version_of(fixture), fmt::format("'{}'\n", round));
        } else {
            // The next build starts by finishing what this one owes: the summary.
            const std::string summary =
                fmt::format("ostree --repo={} summary -v | grep -c {}", fixture.repo().string(),
                            after.substr(0, after.size() - 1));
            fill(fixture, ++round);
            ASSERT_TRUE(build_in_child(fixture, round));
            EXPECT_NE(ref_of(fixture), after);
            EXPECT_EQ(output_of(summary), "0\n");
        }
        for (const auto& item : fs::directory_iterator(fixture.repo() / "tmp")) {
            EXPECT_FALSE(item.path().filename().string().starts_with("edgegpu-")) << item.path();
        }
        // Old commits only make fsck slow.
        (void)output_of("ostree --repo=" + fixture.repo().string() +
                        " prune --refs-only --depth=0");
    }
    EXPECT_GE(killed, kills);
    RecordProperty("killed", static_cast<int>(killed));
    RecordProperty("new_refs", static_cast<int>(new_refs));
}

}  // namespace
}  // namespace edgegpu
