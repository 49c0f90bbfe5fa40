#include "rollout/turns.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/text/text.hpp"

namespace edgegpu::rollout_turns_test {
namespace {

constexpr std::int64_t start = 1'764'330'000;
constexpr std::int64_t hour = 3600;

std::string device(int number) {
    return sha256_hex(fmt::format("device {}", number)).substr(0, 32);
}

std::string commit(int number) {
    return sha256_hex(fmt::format("commit {}", number));
}

TEST(RolloutTurns, AShareGrowsLinearlyToAll) {
    const RolloutWave wave{start, 50'000, 48 * hour};
    EXPECT_EQ(share_at(wave, start - 1), 0);
    EXPECT_EQ(share_at(wave, start), 50'000);
    EXPECT_EQ(share_at(wave, start + 24 * hour), 525'000);
    EXPECT_EQ(share_at(wave, start + 48 * hour - 1), 999'994);
    EXPECT_EQ(share_at(wave, start + 48 * hour), whole_share);
    EXPECT_EQ(share_at(wave, largest_number), whole_share);
    const RolloutWave paused{start, 300'000, 0};
    EXPECT_EQ(share_at(paused, start - 1), 0);
    EXPECT_EQ(share_at(paused, largest_number), 300'000);
    EXPECT_FALSE(is_complete(paused, largest_number));
}

TEST(RolloutTurns, NeverFalls) {
    for (const RolloutWave& wave :
         {RolloutWave{start, 0, 1}, RolloutWave{start, 0, 7}, RolloutWave{start, 999'999, 7},
          RolloutWave{start, 333'333, 1'000'003}, RolloutWave{start, 1, largest_number - start}}) {
        std::int64_t before = 0;
        for (std::int64_t i = 0; i <= 2000; ++i) {
            const std::int64_t time = start + wave.duration / 1000 * i + i % 7;
            const std::int64_t now = share_at(wave, time);
            ASSERT_GE(now, time < start ? 0 : wave.share);
            ASSERT_LE(now, whole_share);
            if (i % 7 == 0) {
                ASSERT_GE(now, before);
                before = now;
            }
        }
        EXPECT_EQ(share_at(wave, wave.start + wave.duration), whole_share);
    }
}

TEST(RolloutTurns, LargestNumbersStayInTheirRange) {
    const RolloutWave wave{0, 0, largest_number};
    EXPECT_EQ(share_at(wave, largest_number - 1), whole_share - 1);
    EXPECT_EQ(turn_of(wave, whole_share - 1), largest_number);
    EXPECT_EQ(devices_at(wave, largest_number, 1'000'000'000), 1'000'000'000);
    const RolloutWave late{largest_number, 0, largest_number};
    EXPECT_EQ(turn_of(late, whole_share - 1), 2 * largest_number);
}

TEST(RolloutTurns, ATurnIsTheFirstSecondThatReachesADevice) {
    for (const RolloutWave& wave :
         {RolloutWave{start, 0, 1}, RolloutWave{start, 50'000, 48 * hour},
          RolloutWave{start, 999'999, 3}, RolloutWave{start, 1, 99'999'999}}) {
        for (std::int64_t position = 0; position < whole_share; position += 7919) {
            const std::int64_t turn = turn_of(wave, position).value();
            ASSERT_LT(position, share_at(wave, turn));
            ASSERT_GE(position, share_at(wave, turn - 1)) << wave.duration << ' ' << position;
        }
    }
    EXPECT_EQ(turn_of({start, 300'000, 0}, 299'999), start);
    EXPECT_EQ(turn_of({start, 300'000, 0}, 300'000), std::nullopt);
}

TEST(RolloutTurns, PositionsAreThoseOfTheContract) {
    // printf '%s %s' ID COMMIT | sha256sum: the first seven digits, as a part of 2^28.
    EXPECT_EQ(position_of(std::string(32, 'a'), std::string(64, 'b')), 373435);
}

TEST(RolloutTurns, TenThousandDevicesFollowThePlan) {
    const RolloutWave wave{start, 50'000, 48 * hour};
    constexpr int devices = 10'000;
    int good = 0;
    for (int release = 0; release < 20; ++release) {
        std::vector<std::int64_t> positions;
        positions.reserve(devices);
        for (int i = 0; i < devices; ++i) {
            positions.push_back(position_of(device(i), commit(release)));
        }
        double worst = 0;
        for (std::int64_t i = -1; i <= 50; ++i) {
            const std::int64_t share = share_at(wave, start + i * hour);
            const auto had = std::ranges::count_if(
                positions, [&](std::int64_t position) { return position < share; });
            worst = std::max(worst, std::abs(100.0 * static_cast<double>(had) / devices -
                                             static_cast<double>(share) / 10'000));
        }
        good += worst < 1.0 ? 1 : 0;
        // Of as many numbers that are drawn at random, one set in a thousand is further off.
        EXPECT_LT(worst, 1.95) << release;
    }
    // Of those that are, 73 in a hundred stay within one percentage point.
    EXPECT_GE(good, 10);
}

TEST(RolloutTurns, OtherDevicesAreFirstWithAnotherRelease) {
    constexpr int devices = 10'000;
    std::set<int> first;
    int both = 0;
    int second = 0;
    for (int i = 0; i < devices; ++i) {
        if (position_of(device(i), commit(1)) < 50'000) {
            first.insert(i);
        }
        if (position_of(device(i), commit(2)) < 50'000) {
            ++second;
            both += first.contains(i) ? 1 : 0;
        }
    }
    EXPECT_NEAR(static_cast<double>(first.size()), 500, 100);
    EXPECT_NEAR(static_cast<double>(second), 500, 100);
    // 5 % of 5 %: 25 of 10,000, with a standard deviation of 5.
    EXPECT_GT(both, 5);
    EXPECT_LT(both, 50);
}

/// What the table of golden plans calls a decision.
std::string word_of(const DeviceDecision& decision) {
    switch (decision.choice) {
        case DeviceChoice::target:
            return "target " + decision.target;
        case DeviceChoice::waits:
            return decision.turn ? fmt::format("waits {}", *decision.turn) : "waits -";
        case DeviceChoice::barred:
            return "barred";
        case DeviceChoice::no_edge:
            return "no-edge";
        case DeviceChoice::unknown:
            return "unknown";
        case DeviceChoice::expired:
            return "expired";
    }
    return "";
}

std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST(RolloutTurns, DecidesAsTheGoldenTableSays) {
    const std::string directory = EDGEGPU_SOURCE_DIR "/tests/data/rollout/";
    const std::string table = content(directory + "decisions.txt");
    std::size_t rows = 0;
    for (const std::string_view line : lines_of(table)) {
        if (line.empty() || line.front() == '#') {
            continue;
        }
        std::istringstream fields{std::string(line)};
        std::string plan;
        DeviceState state;
        std::int64_t time = 0;
        std::string gpus;
        fields >> plan >> state.id >> state.commit >> time >> gpus;
        std::string expected;
        std::getline(fields >> std::ws, expected);
        if (gpus != "-") {
            for (const std::string_view gpu : split(gpus, ',')) {
                state.gpus.emplace_back(gpu);
            }
        }
        std::string got = "malformed";
        try {
            const RolloutPlan read = parse_plan(content(directory + plan), plan);
            got =
                read.ref == "rhel/9/x86_64/edge" ? word_of(decide(read, state, time)) : "other-ref";
            EXPECT_EQ(parse_plan(plan_text(read), plan), read);
        } catch (const Error& failure) {
            EXPECT_EQ(failure.message().find(plan + ": "), 0U) << failure.message();
        }
        EXPECT_EQ(got, expected) << line;
        ++rows;
    }
    EXPECT_GT(rows, 200U);
}

}  // namespace
}  // namespace edgegpu::rollout_turns_test
