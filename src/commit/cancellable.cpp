#include "commit/cancellable.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace edgegpu {

namespace {

/// Signals set a flag and wake nobody.
constexpr auto look_interval = std::chrono::milliseconds(50);

}  // namespace

Cancellable::Cancellable(const Context& ctx) : handle_(g_cancellable_new()) {
    if (ctx.cancelled == nullptr && ctx.abandoned == nullptr) {
        return;
    }
    const std::array flags{ctx.cancelled, ctx.abandoned};
    watcher_ = std::jthread([flags, handle = handle_.get()](const std::stop_token& stop) {
        std::mutex mutex;
        std::unique_lock lock(mutex);
        std::condition_variable_any wake;
        while (!stop.stop_requested()) {
            if (std::ranges::any_of(flags, [](const std::atomic<bool>* flag) {
                    return flag != nullptr && flag->load();
                })) {
                g_cancellable_cancel(handle);
                return;
            }
            wake.wait_for(lock, stop, look_interval, [] { return false; });
        }
    });
}

}  // namespace edgegpu
