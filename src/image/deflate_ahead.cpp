#include "image/deflate_ahead.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <utility>

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "image/deflate.hpp"

namespace edgegpu {

namespace {

constexpr int lower_priority = 10;
constexpr auto look_around = std::chrono::milliseconds(100);

/// Lowers the priority of the calling thread, which the threads that it starts inherit.
void lower_own_priority() {
    const auto thread = static_cast<id_t>(::syscall(SYS_gettid));
    // Best effort: failure only affects the speed.
    [[maybe_unused]] const int result = ::setpriority(PRIO_PROCESS, thread, lower_priority);
}

}  // namespace

class DeflateAhead::Work {
public:
    Work(const Context& ctx, Entries entries)
        : given_(ctx), own_(ctx), entries_(std::move(entries)) {
        own_.cancelled = &stop_;
        done_ = std::async(std::launch::async, [this] {
            lower_own_priority();
            deflate_contents(own_, entries_);
        });
    }
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;
    ~Work() {
        stop_ = true;
        if (done_.valid()) {
            done_.wait();
        }
    }

    void finish() {
        while (done_.wait_for(look_around) != std::future_status::ready) {
            given_.check_cancelled();
        }
        done_.get();
    }

private:
    const Context given_;
    Context own_;
    const Entries entries_;
    std::atomic<bool> stop_{false};
    std::future<void> done_;
};

DeflateAhead::DeflateAhead() = default;
DeflateAhead::DeflateAhead(const Context& ctx, Entries entries)
    : work_(std::make_unique<Work>(ctx, std::move(entries))) {}
DeflateAhead::DeflateAhead(DeflateAhead&&) noexcept = default;
DeflateAhead& DeflateAhead::operator=(DeflateAhead&&) noexcept = default;
DeflateAhead::~DeflateAhead() = default;

void DeflateAhead::finish() {
    if (work_) {
        std::exchange(work_, nullptr)->finish();
    }
}

}  // namespace edgegpu
