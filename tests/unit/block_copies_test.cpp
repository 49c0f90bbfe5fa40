#include "delta/block_copies.hpp"

#include <atomic>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/error.hpp"

namespace edgegpu {
namespace {

std::string bytes_of_seed(std::size_t size, unsigned seed) {
    std::mt19937 numbers(seed);
    std::string bytes(size, '\0');
    for (char& byte : bytes) {
        byte = static_cast<char>(numbers() % 256);
    }
    return bytes;
}

std::vector<ContentPiece> found(const std::string& old, const std::string& made) {
    std::vector<ContentPiece> pieces = find_copies(Context{}, old, made);
    EXPECT_TRUE(makes(pieces, old, made));
    return pieces;
}

TEST(BlockCopies, OfTheSameContentIsOneCopy) {
    const std::string old = bytes_of_seed(100'003, 1);
    EXPECT_EQ(found(old, old), (std::vector<ContentPiece>{{true, 0, old.size()}}));
}

TEST(BlockCopies, FindsWhatHasMovedToAnyPlace) {
    const std::string old = bytes_of_seed(100'003, 1);
    const std::string own = bytes_of_seed(777, 2);
    const std::string made =
        own + old.substr(70'001, 9'999) + old.substr(13, 20'000) + own + old.substr(50'000, 64);
    const std::vector<ContentPiece> pieces = found(old, made);
    ASSERT_EQ(pieces.size(), 5U);
    EXPECT_EQ(pieces[0], (ContentPiece{false, 0, 777}));
    EXPECT_EQ(pieces[1], (ContentPiece{true, 70'001, 9'999}));
    EXPECT_EQ(pieces[2], (ContentPiece{true, 13, 20'000}));
    EXPECT_EQ(pieces[3], (ContentPiece{false, 777 + 29'999, 777}));
    EXPECT_EQ(pieces[4], (ContentPiece{true, 50'000, 64}));
    EXPECT_EQ(own_size(pieces), 2 * own.size());
}

TEST(BlockCopies, TakesNoCopyThatCostsAsMuchAsItsBytes) {
    const std::string old = bytes_of_seed(4096, 1);
    const std::string made = bytes_of_seed(100, 2) + old.substr(64, 63) + bytes_of_seed(100, 3);
    EXPECT_EQ(found(old, made), (std::vector<ContentPiece>{{false, 0, made.size()}}));
}

TEST(BlockCopies, GoesOnBehindAChangedByte) {
    const std::string old = bytes_of_seed(4096, 1);
    std::string made = old;
    made[2001] = static_cast<char>(made[2001] + 1);
    EXPECT_EQ(found(old, made),
              (std::vector<ContentPiece>{{true, 0, 2001}, {false, 2001, 1}, {true, 2002, 2094}}));
}

TEST(BlockCopies, KnowsContentsThatAreNoWholeBlock) {
    const std::string small = bytes_of_seed(31, 1);
    EXPECT_EQ(found("", ""), std::vector<ContentPiece>{});
    EXPECT_EQ(found(small, ""), std::vector<ContentPiece>{});
    EXPECT_EQ(found("", small), (std::vector<ContentPiece>{{false, 0, 31}}));
    EXPECT_EQ(found(small, small), (std::vector<ContentPiece>{{false, 0, 31}}));
    const std::string old = bytes_of_seed(64, 1);
    EXPECT_EQ(found(old, small + old), (std::vector<ContentPiece>{{false, 0, 31}, {true, 0, 64}}));
}

TEST(BlockCopies, OfZerosAndRepetitionsIsRight) {
    const std::string zeros(100'000, '\0');
    EXPECT_EQ(own_size(found(zeros, zeros)), 0U) << "it goes on where it is, though none is known";
    std::string period;
    while (period.size() < 50'000) {
        period += "seventeen letters";
    }
    EXPECT_LT(own_size(found(period, period.substr(5) + zeros)), 100'100U);
}

TEST(BlockCopies, OfRandomChangesMakesTheNewOne) {
    std::mt19937 numbers(7);
    for (int round = 0; round < 300; ++round) {
        const std::string old = bytes_of_seed(numbers() % 5000, numbers());
        std::string made;
        for (std::size_t i = numbers() % 12; i > 0; --i) {
            if (numbers() % 3 == 0) {
                made += bytes_of_seed(numbers() % 300, numbers());
            } else {
                made += old.substr(numbers() % (old.size() + 1), numbers() % 2000);
            }
        }
        found(old, made);
    }
}

TEST(BlockCopies, PiecesThatDoNotMakeItAreSeen) {
    const std::string old = bytes_of_seed(1000, 1);
    const std::string made = old.substr(100, 200) + "new";
    const std::vector<ContentPiece> good{{true, 100, 200}, {false, 200, 3}};
    EXPECT_TRUE(makes(good, old, made));
    EXPECT_FALSE(makes({{true, 101, 200}, {false, 200, 3}}, old, made));
    EXPECT_FALSE(makes({{true, 100, 200}}, old, made));
    EXPECT_FALSE(makes({{true, 100, 200}, {false, 200, 4}}, old, made));
    EXPECT_FALSE(makes({{true, 900, 200}, {false, 200, 3}}, old, made));
    EXPECT_FALSE(makes({{true, 1001, 0}, {true, 100, 200}, {false, 200, 3}}, old, made));
    EXPECT_FALSE(makes({{true, 100, 200}, {false, 200, 3}, {false, 203, 1}}, old, made));
}

TEST(BlockCopies, EndsWhenTheUserWantsToStop) {
    const std::atomic<bool> cancelled{true};
    Context ctx;
    ctx.cancelled = &cancelled;
    const std::string old = bytes_of_seed(1000, 1);
    EXPECT_THROW(static_cast<void>(find_copies(ctx, old, old)), Error);
}

}  // namespace
}  // namespace edgegpu
