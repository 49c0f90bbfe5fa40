#include "execution/memory_budget.hpp"

namespace edgegpu {

void MemoryBudget::acquire(std::uint64_t bytes) {
    std::unique_lock lock(mutex_);
    freed_.wait(lock, [&] { return used_ == 0 || used_ + bytes <= bytes_; });
    used_ += bytes;
}

void MemoryBudget::release(std::uint64_t bytes) {
    {
        const std::lock_guard lock(mutex_);
        used_ -= bytes;
    }
    freed_.notify_all();
}

HeldMemory::HeldMemory(MemoryBudget& budget, std::uint64_t bytes) : budget_(budget), bytes_(bytes) {
    budget_.acquire(bytes_);
}

HeldMemory::~HeldMemory() {
    budget_.release(bytes_);
}

}  // namespace edgegpu
