#include "cache/stored_file.hpp"

#include <atomic>
#include <barrier>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

class StoredFileTest : public testing::Test {
protected:
    StoredFileTest() {
        ctx_.cache = directory_.path() / "cache";
        write_file(source_, "content");
    }

    std::vector<std::string> names_in_content() {
        std::vector<std::string> names;
        for (const auto& entry : fs::recursive_directory_iterator(ctx_.cache / "content")) {
            if (entry.is_regular_file()) {
                names.push_back(entry.path().filename().string());
            }
        }
        return names;
    }

    test::TemporaryDirectory directory_;
    Context ctx_;
    fs::path source_ = directory_.path() / "source";
};

/// link(2) fails on a file that another build's rename takes the name from at that moment.
TEST_F(StoredFileTest, WhoStoresTheSameContentCanLinkToIt) {
    constexpr int builds = 4;
    constexpr int rounds = 300;
    std::atomic<int> failed{0};
    std::barrier start(builds, [&]() noexcept {
        std::error_code code;
        fs::remove_all(ctx_.cache / "content", code);
    });
    std::vector<std::thread> threads;
    threads.reserve(builds);
    for (int build = 0; build < builds; ++build) {
        threads.emplace_back([&, build] {
            for (int round = 0; round < rounds; ++round) {
                start.arrive_and_wait();
                const StoredFile stored = store_file(ctx_, source_);
                const fs::path copy = directory_.path() / std::to_string(build * rounds + round);
                failed += ::link(stored.path.c_str(), copy.c_str()) == 0 ? 0 : 1;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(failed, 0);
    EXPECT_EQ(names_in_content().size(), 1U) << "no unfinished file is left";
}

TEST_F(StoredFileTest, AFileThatTheKernelMakesIsNotAnEmptyOne) {
    for (const char* path : {"/proc/self/environ", "/proc/self/cmdline"}) {
        EXPECT_THROW(static_cast<void>(store_file(ctx_, fs::path(path))), Error) << path;
    }
}

TEST_F(StoredFileTest, AStoredFileOfAnotherSizeIsReplaced) {
    const StoredFile first = store_file(ctx_, source_);
    write_file(first.path, "con");
    const StoredFile second = store_file(ctx_, source_);
    EXPECT_EQ(second.path, first.path);
    EXPECT_EQ(read_file(second.path, 100), "content");
    EXPECT_EQ(names_in_content().size(), 1U);
}

}  // namespace
}  // namespace edgegpu
