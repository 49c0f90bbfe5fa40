#include "delta/binary_diff.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace edgegpu {
namespace {

/// The same on every machine, unlike what the distributions of the standard library give.
class Numbers {
public:
    explicit Numbers(std::uint32_t seed) : engine_(seed) {}
    std::size_t below(std::size_t limit) { return limit == 0 ? 0 : engine_() % limit; }
    /// Of few letters, so that much is alike, or of all bytes.
    std::string text(std::size_t size, unsigned letters) {
        std::string made(size, '\0');
        for (char& letter : made) {
            letter = static_cast<char>(below(letters));
        }
        return made;
    }

private:
    std::mt19937 engine_;
};

/// `old` with some of its parts changed, moved, left out or repeated.
std::string changed(const std::string& old, Numbers& numbers) {
    std::string made = old;
    for (std::size_t i = numbers.below(8); i > 0; --i) {
        const std::size_t at = numbers.below(made.size() + 1);
        const std::size_t size = numbers.below(made.size() - at + 1);
        switch (numbers.below(4)) {
            case 0:
                made.erase(at, size);
                break;
            case 1:
                made.insert(at, numbers.text(numbers.below(60), 256));
                break;
            case 2:
                made.insert(numbers.below(made.size() + 1), made.substr(at, size));
                break;
            default:
                for (std::size_t j = at; j < at + size; j += 7) {
                    made[j] = static_cast<char>(made[j] + 1);
                }
        }
    }
    return made;
}

TEST(BinaryDiff, MakesTheNewOneOfTheOldOne) {
    Numbers numbers(1);
    for (int round = 0; round < 400; ++round) {
        const unsigned letters = round % 3 == 0 ? 2 : round % 3 == 1 ? 20 : 256;
        // Above 64 KiB it looks for matches in another way.
        const std::string old =
            numbers.text(numbers.below(round % 40 == 0 ? 200000 : 3000), letters);
        const std::string made = changed(old, numbers);
        ASSERT_TRUE(makes(binary_diff({}, old, made), old, made)) << round;
    }
}

TEST(BinaryDiff, HasNoTroubleAtTheEdges) {
    const std::string zeros(100000, '\0');
    const std::string pattern = [] {
        std::string text;
        for (int i = 0; i < 30000; ++i) {
            text += "abc";
        }
        return text;
    }();
    const std::vector<std::pair<std::string, std::string>> pairs{
        {"", ""},
        {"", "new"},
        {"old", ""},
        {"a", "a"},
        {"a", "b"},
        {"ab", "ba"},
        {zeros, zeros},
        {zeros, zeros + "x"},
        {zeros + "x", zeros},
        {pattern, "x" + pattern},
        {pattern + "x", pattern.substr(1)},
        {pattern, zeros},
        {zeros, pattern},
        {std::string(70000, '\xff'), std::string(70001, '\xff')},
    };
    for (const auto& [old, made] : pairs) {
        EXPECT_TRUE(makes(binary_diff({}, old, made), old, made))
            << old.size() << ' ' << made.size();
    }
}

TEST(BinaryDiff, ConsistsOfZerosWhereBothAreAlike) {
    Numbers numbers(2);
    const std::string old = numbers.text(100000, 256);
    std::string made = old;
    made.insert(50000, "something new");
    for (std::size_t i = 100; i < made.size(); i += 1000) {
        made[i] = static_cast<char>(made[i] + 1);
    }
    const std::string diff = binary_diff({}, old, made);
    const auto others = static_cast<std::size_t>(
        std::ranges::count_if(diff, [](char letter) { return letter != '\0'; }));
    EXPECT_LT(others, 300U);
    EXPECT_LT(diff.size(), made.size() + 200);
}

TEST(BinaryDiff, WhatAClientWouldRefuseIsRefused) {
    const std::string old = "the old content, which is long enough to be of use";
    const std::string made = "the new content, which is long enough to be of use";
    const std::string diff = binary_diff({}, old, made);
    ASSERT_TRUE(makes(diff, old, made));
    EXPECT_FALSE(makes(diff, old, made + "x"));
    EXPECT_FALSE(makes(diff, made, made));
    for (std::size_t size = 0; size < diff.size(); ++size) {
        EXPECT_FALSE(makes(diff.substr(0, size), old, made)) << size;
    }
    // Nothing that is read beyond an end, whatever the numbers are (the sanitizers look).
    Numbers numbers(3);
    for (int round = 0; round < 2000; ++round) {
        std::string other = diff;
        other[numbers.below(24)] = static_cast<char>(numbers.below(256));
        static_cast<void>(makes(other, old, made));
    }
}

}  // namespace
}  // namespace edgegpu
