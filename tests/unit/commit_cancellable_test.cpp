#include "commit/cancellable.hpp"

#include <atomic>

#include <gtest/gtest.h>
#include <poll.h>

namespace edgegpu {
namespace {

/// Whether it is cancelled soon.
bool is_cancelled(const Cancellable& cancellable) {
    constexpr int hangs = 60000;  // milliseconds
    struct pollfd event {
        g_cancellable_get_fd(cancellable.get()), POLLIN, 0
    };
    const bool found = ::poll(&event, 1, hangs) == 1;
    g_cancellable_release_fd(cancellable.get());
    return found;
}

TEST(Cancellable, FollowsBothFlags) {
    for (const bool abandoned : {false, true}) {
        std::atomic<bool> flag{false};
        const std::atomic<bool> other{false};
        Context ctx;
        ctx.cancelled = abandoned ? &other : &flag;
        ctx.abandoned = abandoned ? &flag : &other;
        const Cancellable cancellable(ctx);
        EXPECT_EQ(g_cancellable_is_cancelled(cancellable.get()), FALSE);
        flag = true;
        EXPECT_TRUE(is_cancelled(cancellable)) << (abandoned ? "abandoned" : "cancelled");
    }
}

TEST(Cancellable, NobodyNeedsToWatchIt) {
    const Cancellable cancellable(Context{});
    EXPECT_EQ(g_cancellable_is_cancelled(cancellable.get()), FALSE);
}

}  // namespace
}  // namespace edgegpu
