#include "gpu_health/program/memory_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace edgegpu::gpu_health {
namespace {

namespace fs = std::filesystem;

class GpuHealthMemoryFile : public testing::Test {
protected:
    GpuHealthMemoryFile() { fs::remove_all(directory); }
    ~GpuHealthMemoryFile() override { fs::remove_all(directory); }

    void write(const std::string& text) {
        fs::create_directories(directory);
        std::ofstream(directory / "commits.json") << text;
    }

    fs::path directory = fs::path(testing::TempDir()) / "gpu_health_memory";
    Notes notes;
};

Memory two_commits() {
    Memory memory;
    memory.commits["a"] = {true, "", 1};
    memory.commits["b"] = {false, "xid-79", 2, true};
    return memory;
}

TEST_F(GpuHealthMemoryFile, IsReadAsItWasWritten) {
    EXPECT_TRUE(store_memory(directory, two_commits(), notes));
    const Memory memory = load_memory(directory, notes);
    EXPECT_THAT(notes, testing::IsEmpty());
    EXPECT_EQ(memory_json(memory), memory_json(two_commits()));
    EXPECT_TRUE(memory.commits.at("a").healthy);
    EXPECT_EQ(memory.commits.at("b").fault, "xid-79");
    EXPECT_TRUE(memory.commits.at("b").red);
    // Of a gpu-health that did not remember it.
    EXPECT_FALSE(read_memory(R"({"format":"edgegpu-gpu-health-memory/1","commits":
        {"a":{"healthy":true,"fault":"","serial":1}}})")
                     .commits.at("a")
                     .red);
    // Nothing but the file is left.
    EXPECT_EQ(std::distance(fs::directory_iterator(directory), fs::directory_iterator()), 1);
}

TEST_F(GpuHealthMemoryFile, FirstBootHasNone) {
    EXPECT_TRUE(load_memory(directory, notes).commits.empty());
    EXPECT_THAT(notes, testing::IsEmpty());
}

TEST_F(GpuHealthMemoryFile, DamagedOnesAreForgottenAndTold) {
    const std::string good = memory_json(two_commits());
    for (
        const std::string& text :
        {std::string(), std::string("null"), std::string("[]"), good.substr(0, good.size() / 2),
         std::string(4096, '\0'), std::string(R"({"format":"edgegpu-gpu-health-memory/2"})"),
         std::string(R"({"format":"edgegpu-gpu-health-memory/1","commits":[1]})"),
         std::string(R"({"format":"edgegpu-gpu-health-memory/1","commits":
             {"a":{"healthy":true,"fault":"","serial":18446744073709551615}}})"),
         std::string(R"({"format":"edgegpu-gpu-health-memory/1","commits":
             {"a":{"healthy":true,"fault":"","serial":1,"red":1}}})"),
         std::string(
             R"({"format":"edgegpu-gpu-health-memory/1","commits":{"a":{"healthy":1,"fault":"","serial":1}}})"),
         std::string(
             R"({"format":"edgegpu-gpu-health-memory/1","commits":{"a":{"healthy":true,"fault":"","serial":-1}}})"),
         std::string(2U << 20U, '['), std::string(1U << 19U, '[')}) {
        notes.clear();
        write(text);
        EXPECT_TRUE(load_memory(directory, notes).commits.empty());
        ASSERT_EQ(notes.size(), 1U) << text.substr(0, 200);
        EXPECT_THAT(notes[0], testing::HasSubstr("commits.json is damaged"));
    }
}

TEST_F(GpuHealthMemoryFile, AFifoInItsPlaceIsNotWaitedFor) {
    fs::create_directories(directory);
    ASSERT_EQ(::mkfifo((directory / "commits.json").c_str(), 0600), 0);
    EXPECT_TRUE(load_memory(directory, notes).commits.empty());
    EXPECT_EQ(notes.size(), 1U);
}

TEST_F(GpuHealthMemoryFile, WhatCannotBeWrittenIsTold) {
    std::ofstream(directory) << "a file in its place";
    EXPECT_FALSE(store_memory(directory, two_commits(), notes));
    ASSERT_EQ(notes.size(), 1U);
    EXPECT_THAT(notes[0], testing::HasSubstr("cannot be written, this boot is not remembered"));
}

}  // namespace
}  // namespace edgegpu::gpu_health
