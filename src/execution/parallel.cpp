#include "execution/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace edgegpu {

void parallel_for(const Context& ctx, std::size_t count,
                  const std::function<void(std::size_t)>& work) {
    std::atomic<std::size_t> next{0};
    std::atomic<bool> stop{false};
    std::mutex mutex;
    std::exception_ptr first;
    std::size_t first_index = count;

    const auto worker = [&]() noexcept {
        while (!stop.load()) {
            const std::size_t index = next.fetch_add(1);
            if (index >= count) {
                return;
            }
            try {
                ctx.check_cancelled();
                work(index);
            } catch (...) {
                stop.store(true);
                const std::lock_guard lock(mutex);
                if (index < first_index) {
                    first_index = index;
                    first = std::current_exception();
                }
            }
        }
    };
    {
        std::vector<std::jthread> threads;
        const std::size_t extra = std::min<std::size_t>(std::max(1U, ctx.jobs), count);
        for (std::size_t i = 1; i < extra; ++i) {
            threads.emplace_back(worker);
        }
        worker();
    }
    if (first) {
        std::rethrow_exception(first);
    }
}

void run_both(const Context& ctx, const std::function<void(const Context&)>& one,
              const std::function<void(const Context&)>& other) {
    std::atomic<bool> failed{false};
    std::exception_ptr first;
    Context shared = ctx;
    shared.abandoned = &failed;
    const auto run = [&](const std::function<void(const Context&)>& task) noexcept {
        try {
            task(shared);
        } catch (...) {
            // What the other one throws afterwards is a consequence.
            if (!failed.exchange(true)) {
                first = std::current_exception();
            }
        }
    };
    {
        const std::jthread beside([&] { run(other); });
        run(one);
    }
    if (first) {
        std::rethrow_exception(first);
    }
}

}  // namespace edgegpu
