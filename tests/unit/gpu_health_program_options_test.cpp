#include "gpu_health/program/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edgegpu::gpu_health {
namespace {

Options parsed(const std::vector<std::string>& words) {
    return parse_options(words, "/usr/libexec/edgegpu/gpu-health");
}

TEST(GpuHealthOptions, ThePathsOfAMachine) {
    const Options options = parsed({});
    EXPECT_EQ(options.tables, "/etc/edgegpu/gpu-health");
    EXPECT_EQ(options.state, "/var/lib/edgegpu/gpu-health");
    EXPECT_EQ(options.run, "/run");
    EXPECT_EQ(options.probe, "/usr/libexec/edgegpu/gpu-probe");
    EXPECT_FALSE(options.settings);
    EXPECT_EQ(options.output, Output::journal);
}

TEST(GpuHealthOptions, AnotherRootHasItsOwnStateAndReports) {
    const Options options = parsed({"check", "--root", "/other", "--sys=/s", "--run", "/r"});
    EXPECT_EQ(options.state, "/other/var/lib/edgegpu/gpu-health");
    EXPECT_EQ(options.tables, "/other/etc/edgegpu/gpu-health");
    EXPECT_EQ(options.run, "/r");
    EXPECT_EQ(options.places.sys, "/s");
    EXPECT_EQ(options.places.proc, "/proc");
}

TEST(GpuHealthOptions, ARecordedMachineLeavesNothingHere) {
    EXPECT_FALSE(parsed({"--facts", "f"}).state);
    EXPECT_FALSE(parsed({"--facts", "f"}).run);
    EXPECT_EQ(parsed({"--facts", "f", "--state", "s"}).state, "s");
}

TEST(GpuHealthOptions, RecordTakesAFileOrNone) {
    EXPECT_EQ(parsed({"--record"}).record_file, "");
    EXPECT_EQ(parsed({"--record", "f"}).record_file, "f");
    EXPECT_EQ(parsed({"--record=f"}).record_file, "f");
    const Options options = parsed({"--record", "--json"});
    EXPECT_EQ(options.record_file, "");
    EXPECT_EQ(options.output, Output::json);
}

TEST(GpuHealthOptions, WhatCannotBeUnderstood) {
    for (const std::vector<std::string>& words : {std::vector<std::string>{"judge"},
                                                  {"check", "check"},
                                                  {"--nothing"},
                                                  {"--root"},
                                                  {"--root", "--json"},
                                                  {"--root="},
                                                  {"--json=yes"},
                                                  {""},
                                                  {"-x"},
                                                  {"--record", "--facts", "f"},
                                                  {"--record="}}) {
        EXPECT_THROW(static_cast<void>(parsed(words)), UsageError) << testing::PrintToString(words);
    }
}

TEST(GpuHealthOptions, HelpHasEachOption) {
    for (const char* const option :
         {"--explain", "--json", "--greenboot", "--record", "--facts", "--root", "--probe"}) {
        EXPECT_THAT(help_text(), testing::HasSubstr(option));
    }
}

}  // namespace
}  // namespace edgegpu::gpu_health
