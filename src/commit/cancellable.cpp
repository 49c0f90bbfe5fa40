#include "commit/cancellable.hpp"

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
    if (ctx.cancelled == nullptr) {
        return;
    }
    watcher_ = std::jthread([flag = ctx.cancelled, handle = handle_.get()](std::stop_token stop) {
        std::mutex mutex;
        std::unique_lock lock(mutex);
        std::condition_variable_any wake;
        while (!stop.stop_requested()) {
            if (flag->load()) {
                g_cancellable_cancel(handle);
                return;
            }
            wake.wait_for(lock, stop, look_interval, [] { return false; });
        }
    });
}

}  // namespace edgegpu
