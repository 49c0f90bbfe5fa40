#include "rollout/plan.hpp"

#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rollout/graph.hpp"
#include "support/error.hpp"

namespace edgegpu::rollout_plan_test {
namespace {

using testing::HasSubstr;

const std::string one(64, '1');
const std::string two(64, '2');

RolloutPlan example() {
    RolloutPlan plan;
    plan.ref = "edge/stable";
    plan.serial = 1'764'330'000;
    plan.expires = 1'765'539'600;
    plan.releases = {{one, 0, "9.4.1", {100, "x86_64", "4.16", "550.54.15"}, {}, {}, "", {}, {}},
                     {two, 3, "", {200, "x86_64", "4.18", "590.48.01"}, {}, {}, "", {}, {}}};
    plan.releases[1].wave = RolloutWave{1'764'330'000, 50'000, 3600};
    plan.releases[1].paused = PausedWave{{1'764'000'000, 10, 7200}, 1'764'330'000, "smoke"};
    plan.releases[1].barrier = "new keys";
    plan.releases[0].aborted = "";
    plan.releases[1].reason = "CVE";
    plan.edges = {{one, two, {{{"1db4", "1b38"}, "not driven"}, {{"13c0"}, ""}}}};
    return plan;
}

/// The message with which `text` is refused.
std::string refusal(const std::string& text) {
    try {
        static_cast<void>(parse_plan(text, "PLAN"));
    } catch (const Error& failure) {
        EXPECT_THAT(failure.message(), testing::StartsWith("PLAN: "));
        return failure.message();
    }
    return "";
}

TEST(RolloutPlan, IsReadAsItWasWritten) {
    const RolloutPlan plan = example();
    RolloutPlan read = parse_plan(plan_text(plan), "x");
    add_graph(read, graph_text(plan), "x");
    EXPECT_EQ(read, plan);
}

TEST(RolloutPlan, IsWhatTheContractSays) {
    EXPECT_EQ(plan_text(example()),
              fmt::format("edgegpu-rollout/1\nref edge/stable\nserial 1764330000\nexpires "
                          "1765539600\nrelease {0} 0 9.4.1\nrelease {1} 3\nwave {1} 1764330000 "
                          "50000 3600\nedge {0} {1}\ngpus {0} {1} 1db4,1b38 not driven\ngpus {0} "
                          "{1} 13c0\nend\n",
                          one, two));
}

TEST(RolloutPlan, TextsAreOnOneLineOfAscii) {
    RolloutPlan plan = example();
    plan.releases[0].version = "9.4\nend\n\x1b[2J \xc3\xb6 " + std::string(1000, 'x');
    plan.barred = {};
    const RolloutPlan read = parse_plan(plan_text(plan), "x");
    EXPECT_THAT(read.releases[0].version, testing::StartsWith("9.4?end??[2J ?? xxx"));
    EXPECT_EQ(read.releases[0].version.size(), 500U);
    EXPECT_EQ(plain_text("  a b\t"), "a b");
    EXPECT_EQ(plain_text("\x80\xff"), "??");
}

TEST(RolloutPlan, EveryTruncationIsRefused) {
    const std::string text = plan_text(example());
    for (std::size_t size = 0; size < text.size(); ++size) {
        EXPECT_NE(refusal(text.substr(0, size)), "") << size;
    }
}

TEST(RolloutPlan, WhatComesAfterTheEndIsRefused) {
    EXPECT_THAT(refusal(plan_text(example()) + "x"), HasSubstr("something follows the end"));
}

TEST(RolloutPlan, NoByteMayBeAnother) {
    // Each byte replaced: what is still read is another plan, and never more than a number or text.
    const std::string text = plan_text(example());
    for (std::size_t i = 0; i < text.size(); ++i) {
        for (const char byte : {'\0', '\n', ' ', '\x7f', '\xff', 'g', '9', '-'}) {
            std::string changed = text;
            changed[i] = byte;
            try {
                const RolloutPlan read = parse_plan(changed, "PLAN");
                const std::string written = plan_text(read);
                EXPECT_EQ(plan_text(parse_plan(written, "again")), written);
            } catch (const Error&) {
                // as it should be
            }
        }
    }
}

TEST(RolloutPlan, TooLargeIsRefused) {
    std::string text = plan_text(example());
    text.insert(text.size() - 4, std::string(largest_plan, '\n'));
    EXPECT_THAT(refusal(text), HasSubstr("larger than 1 MiB"));
}

TEST(RolloutPlan, AGraphOfOtherCommitsIsRefused) {
    const RolloutPlan plan = example();
    const std::string graph = graph_text(plan);
    const auto refused = [&](const std::string& text) {
        RolloutPlan read = parse_plan(plan_text(plan), "x");
        try {
            add_graph(read, text, "GRAPH");
        } catch (const Error& failure) {
            return failure.message();
        }
        return std::string();
    };
    EXPECT_EQ(refused(graph), "");
    EXPECT_THAT(refused(""), HasSubstr("GRAPH: is no graph of a plan"));
    EXPECT_THAT(refused("[]"), HasSubstr("is no graph"));
    EXPECT_THAT(refused("{\"nodes\": 5}"), HasSubstr("is no graph"));
    EXPECT_THAT(refused("{\"nodes\": []}"), HasSubstr("does not have the commits of the plan"));
    std::string other = graph;
    other.replace(other.find(one), 64, std::string(64, '9'));
    EXPECT_THAT(refused(other), HasSubstr("which the plan has not"));
    std::string number = graph;
    number.replace(number.find("\"1764000000\""), 12, "\"17640000000000\"");
    EXPECT_THAT(refused(number), HasSubstr("is no number of a plan"));
    for (std::size_t size = 0; size + 1 < graph.size(); size += 13) {
        EXPECT_NE(refused(graph.substr(0, size)), "") << size;
    }
    EXPECT_NE(
        refused("{\"nodes\":[{\"payload\":\"" + one + "\",\"metadata\":{\"edgegpu.time\":5}}]}"),
        "");
}

TEST(RolloutPlan, RefsOfPlans) {
    EXPECT_EQ(plan_ref("a/b"), "edgegpu-rollout/a/b");
    EXPECT_TRUE(is_plan_ref("edgegpu-rollout/a"));
    EXPECT_TRUE(is_plan_ref("edge:edgegpu-rollout/a"));
    EXPECT_FALSE(is_plan_ref("edgegpu-rollout"));
    EXPECT_FALSE(is_plan_ref("a/edgegpu-rollout/a"));
}

}  // namespace
}  // namespace edgegpu::rollout_plan_test
