#include "log/build_log.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "support/files/file.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_in(const fs::path& directory) {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
        names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

TEST(BuildLog, NamedByTimeAndProcess) {
    const test::TemporaryDirectory cache;
    EXPECT_THAT(begin_build_log(cache.path(), LogFormat::text).string(),
                testing::MatchesRegex(cache.path().string() + "/logs/20[0-9]+T[0-9]+Z-" +
                                      std::to_string(::getpid()) + ".log"));
    EXPECT_EQ(begin_build_log(cache.path(), LogFormat::json).extension(), ".jsonl");
}

TEST(BuildLog, TheLastTenStay) {
    const test::TemporaryDirectory cache;
    const fs::path logs = cache.path() / "logs";
    fs::create_directory(logs);
    for (int i = 10; i < 30; ++i) {
        write_file(logs / ("201901" + std::to_string(i) + "T000000Z-1.log"), "x");
    }
    write_file(logs / "a note of the user's.log", "x");
    Log running("build:1");
    running.add_file(logs / "20190110T000000Z-1.log", LogFormat::text);
    Log(std::string("build:2"))
        .add_file(begin_build_log(cache.path(), LogFormat::text), LogFormat::text);
    const std::vector<std::string> names = names_in(logs);
    // Nine, the new one, that of a running build, and what is none.
    ASSERT_EQ(names.size(), 12U);
    EXPECT_EQ(names.front(), "20190110T000000Z-1.log");
    EXPECT_EQ(names[1], "20190121T000000Z-1.log");
    EXPECT_EQ(names.back(), "a note of the user's.log");
}

}  // namespace
}  // namespace edgegpu
