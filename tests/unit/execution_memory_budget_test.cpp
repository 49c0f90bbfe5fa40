#include "execution/memory_budget.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace edgegpu {
namespace {

/// Takes bytes of the budget in a thread of its own; what is taken is given back with the result.
std::future<void> taken_elsewhere(MemoryBudget& budget, std::uint64_t bytes) {
    return std::async(std::launch::async,
                      [&budget, bytes] { const HeldMemory held(budget, bytes); });
}

/// `wanted` bytes are not to be had before the `held` ones are given back.
void expect_to_wait(MemoryBudget& budget, std::uint64_t held, std::uint64_t wanted) {
    std::optional<HeldMemory> first(std::in_place, budget, held);
    const std::future<void> second = taken_elsewhere(budget, wanted);
    EXPECT_EQ(second.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
    first.reset();
    second.wait();
}

TEST(MemoryBudgetTest, IsSharedUpToItsSize) {
    MemoryBudget budget(10);
    {
        const HeldMemory held(budget, 6);
        taken_elsewhere(budget, 4).get();
    }
    expect_to_wait(budget, 6, 5);
}

TEST(MemoryBudgetTest, WhatIsLargerGoesAlone) {
    MemoryBudget budget(10);
    expect_to_wait(budget, 1, 11);
    expect_to_wait(budget, 11, 1);
}

TEST(MemoryBudgetTest, IsNeverExceededByManyThreads) {
    MemoryBudget budget(3);
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
    constexpr int count = 8;
    std::vector<std::thread> threads;
    threads.reserve(count);
    for (int i = 0; i < count; ++i) {
        threads.emplace_back([&] {
            for (int round = 0; round < 200; ++round) {
                const HeldMemory held(budget, 1);
                const int now = ++inside;
                for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
                }
                --inside;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_LE(most, 3);
    EXPECT_GE(most, 1);
}

}  // namespace
}  // namespace edgegpu
