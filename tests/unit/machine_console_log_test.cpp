// A guest writes to its console what it wants, and as much.

#include "machine/console_log.hpp"

#include <filesystem>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine/line_channel.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

constexpr std::uint64_t small_log = 1000;

/// Floods a console that is kept in `file`, and waits until what comes after that is understood.
void flood(const std::filesystem::path& file) {
    auto [ours, theirs] = make_channel();
    std::vector<Fd> consoles;
    consoles.push_back(std::move(ours));
    const ConsoleLog log(std::move(consoles), file, small_log);
    ASSERT_TRUE(write_all(theirs.get(), std::string(4U << 20U, '\033') +
                                            std::string(1U << 20U, 'x') +
                                            "\n[    0.000000] Linux version 6.1\n"));
    while (log.progress().phase() != ConsoleProgress::Phase::kernel) {
        std::this_thread::yield();
    }
    EXPECT_LE(log.progress().last(10).size(), 10U);
}

TEST(ConsoleLog, KeepsSoMuchAndReadsTheRest) {
    const test::TemporaryDirectory directory;
    const std::filesystem::path file = directory.path() / "console.log";
    flood(file);
    EXPECT_EQ(std::filesystem::file_size(file), small_log);
}

TEST(ConsoleLog, AFullDiskDoesNotStopTheGuest) {
    flood("/dev/full");
}

TEST(ConsoleLog, AFileThatCannotBeWrittenIsAnErrorAndALinkIsNotFollowed) {
    const test::TemporaryDirectory directory;
    EXPECT_THROW(ConsoleLog({}, directory.path() / "none" / "console.log"), Error);
    std::filesystem::create_symlink("other", directory.path() / "link");
    EXPECT_THROW(ConsoleLog({}, directory.path() / "link"), Error);
    EXPECT_FALSE(std::filesystem::exists(directory.path() / "other"));
}

}  // namespace
}  // namespace edgegpu
