#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace edgegpu {

/// Limits what threads have in memory together: one waits until the bytes that it needs are free.
/// What is larger than the budget is let in when nothing else is held.
class MemoryBudget {
public:
    explicit MemoryBudget(std::uint64_t bytes) : bytes_(bytes) {}

private:
    friend class HeldMemory;

    void acquire(std::uint64_t bytes);
    void release(std::uint64_t bytes);

    std::mutex mutex_;
    std::condition_variable freed_;
    std::uint64_t bytes_;
    std::uint64_t used_ = 0;
};

/// Bytes of a budget, which has to live longer; given back on destruction.
class HeldMemory {
public:
    /// Waits for them.
    HeldMemory(MemoryBudget& budget, std::uint64_t bytes);
    HeldMemory(const HeldMemory&) = delete;
    HeldMemory& operator=(const HeldMemory&) = delete;
    ~HeldMemory();

private:
    MemoryBudget& budget_;
    std::uint64_t bytes_;
};

}  // namespace edgegpu
