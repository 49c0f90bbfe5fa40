#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include "commit/index.hpp"
#include "customise_fixture.hpp"

namespace edgegpu::test {
namespace {

namespace fs = std::filesystem;

std::string key_of(int number) {
    return ObjectIndex::key(fmt::format("{:064x}", number), fmt::format("{:064x}", 7));
}

std::string checksum_of(int number) {
    return fmt::format("{:064x}", number + 1);
}

void add(ObjectIndex& index, int number) {
    index.add(key_of(number), checksum_of(number));
}

bool knows(const ObjectIndex& index, int number) {
    return index.find(key_of(number)) == checksum_of(number);
}

class Index : public TreeTest {
protected:
    void SetUp() override {
        TreeTest::SetUp();
        path = ctx.cache / "objects-index";
    }

    /// More lines than are always kept.
    void fill() const {
        ObjectIndex index(path);
        for (int i = 0; i < 200001; ++i) {
            add(index, i);
        }
        index.save(ctx);
    }

    /// Saves while somebody else has the lock, who calls `meanwhile` and releases it once `save`
    /// waits. Returns whether it did.
    template <typename Action>
    bool save_against_lock(ObjectIndex& index, Action meanwhile) const {
        Fd holder(::open(path.c_str(), O_RDWR | O_CLOEXEC));
        EXPECT_EQ(::flock(holder.get(), LOCK_EX), 0);
        std::atomic<bool> said{false};
        ConsoleOutput output;
        output.write = [&](std::string_view text) {
            said = said || text.find("waiting for another build") != std::string_view::npos;
        };
        Console hearing(output);
        Context waiting = ctx;
        waiting.console = &hearing;
        std::future<void> saved = std::async(std::launch::async, [&] { index.save(waiting); });
        bool waited = false;
        while (!waited && saved.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
            waited = said.load();
            std::this_thread::yield();
        }
        meanwhile();
        holder.reset();
        saved.get();
        return waited;
    }

    fs::path path;
};

TEST_F(Index, FindsWhatWasSaved) {
    ObjectIndex first(path);
    add(first, 1);
    first.save(ctx);
    ObjectIndex second(path);
    EXPECT_TRUE(knows(second, 1));
    EXPECT_TRUE(second.find(key_of(2)).empty());
}

TEST_F(Index, AnIncompleteLineHidesNoOther) {
    ObjectIndex first(path);
    add(first, 1);
    first.save(ctx);
    std::ofstream(path, std::ios::app) << "0123";
    ObjectIndex second(path);
    add(second, 2);
    second.save(ctx);
    const ObjectIndex third(path);
    EXPECT_TRUE(knows(third, 1));
    EXPECT_TRUE(knows(third, 2));
}

TEST_F(Index, ALineThatIsCutAfterTheIndexWasReadHidesNoOther) {
    ObjectIndex first(path);
    add(first, 1);
    std::ofstream(path) << "0123";  // by a build that was killed since
    first.save(ctx);
    EXPECT_TRUE(knows(ObjectIndex(path), 1));
}

TEST_F(Index, ManyUnusedLinesAreDroppedAndThoseOfOtherBuildsKept) {
    fill();
    ObjectIndex index(path);
    EXPECT_TRUE(knows(index, 5));
    add(index, 300000);
    ObjectIndex other(path);
    add(other, 300001);
    other.save(ctx);
    index.save(ctx);
    const ObjectIndex result(path);
    EXPECT_TRUE(knows(result, 5));
    EXPECT_TRUE(knows(result, 300000));
    EXPECT_TRUE(knows(result, 300001));
    EXPECT_FALSE(knows(result, 6));
    constexpr std::uintmax_t line = 171;
    EXPECT_EQ(fs::file_size(path), 3 * line);
}

TEST_F(Index, ARewriteWaitsForAnotherWriter) {
    fill();
    ObjectIndex index(path);
    add(index, 300000);
    EXPECT_TRUE(save_against_lock(index, [&] {
        std::ofstream(path, std::ios::app) << "0123";  // not complete yet
    }));
    EXPECT_TRUE(knows(ObjectIndex(path), 300000));
}

TEST_F(Index, WhoWaitedForARewriteWritesToTheNewFile) {
    ObjectIndex first(path);
    add(first, 1);
    first.save(ctx);
    ObjectIndex index(path);
    add(index, 2);
    EXPECT_TRUE(save_against_lock(index, [&] { write_file(path, read_file(path)); }));
    const ObjectIndex result(path);
    EXPECT_TRUE(knows(result, 1));
    EXPECT_TRUE(knows(result, 2));
}

}  // namespace
}  // namespace edgegpu::test
