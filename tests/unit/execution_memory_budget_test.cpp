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

bool is_waiting(std::future<void>& taken) {
    return taken.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout;
}

TEST(MemoryBudgetTest, IsSharedUpToItsSize) {
    MemoryBudget budget(10);
    std::optional<HeldMemory> held(std::in_place, budget, 6);
    taken_elsewhere(budget, 4).get();
    std::future<void> too_many = taken_elsewhere(budget, 5);
    EXPECT_TRUE(is_waiting(too_many));
    held.reset();
    too_many.get();
}

TEST(MemoryBudgetTest, WhatIsLargerGoesAlone) {
    MemoryBudget budget(10);
    std::optional<HeldMemory> held(std::in_place, budget, 1);
    std::future<void> larger = taken_elsewhere(budget, 11);
    EXPECT_TRUE(is_waiting(larger));
    held.reset();
    larger.get();
    held.emplace(budget, 11);
    std::future<void> small = taken_elsewhere(budget, 1);
    EXPECT_TRUE(is_waiting(small));
    held.reset();
    small.get();
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
