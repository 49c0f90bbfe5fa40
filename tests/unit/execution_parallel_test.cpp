#include "execution/parallel.hpp"

#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "support/error.hpp"

namespace edgegpu::test {
namespace {

using Task = std::function<void(const Context&)>;

/// Works until it is told that nobody wants it any more.
void wait_for_the_end(const Context& ctx) {
    while (true) {
        ctx.check_cancelled();
        std::this_thread::yield();
    }
}

[[noreturn]] void fail(const Context& /*ctx*/) {
    throw Error("the first reason");
}

std::string failure_of(const Task& one, const Task& other, const Context& ctx = {}) {
    try {
        run_both(ctx, one, other);
    } catch (const Error& problem) {
        return problem.message();
    }
    return "";
}

TEST(RunBoth, BothAreDone) {
    std::atomic<int> done = 0;
    const auto work = [&](const Context& ctx) {
        ctx.check_cancelled();
        ++done;
    };
    run_both({}, work, work);
    EXPECT_EQ(done, 2);
}

TEST(RunBoth, TheFirstFailureEndsTheOther) {
    EXPECT_EQ(failure_of(fail, wait_for_the_end), "the first reason");
    EXPECT_EQ(failure_of(wait_for_the_end, fail), "the first reason");
}

TEST(RunBoth, AnInterruptionEndsBoth) {
    const std::atomic<bool> cancelled{true};
    Context ctx;
    ctx.cancelled = &cancelled;
    EXPECT_EQ(failure_of(wait_for_the_end, wait_for_the_end, ctx), "interrupted");
}

TEST(RunBoth, OtherExceptionsPassToo) {
    const Task odd = [](const Context&) { throw std::runtime_error("x"); };
    EXPECT_THROW(run_both({}, odd, wait_for_the_end), std::runtime_error);
}

}  // namespace
}  // namespace edgegpu::test
