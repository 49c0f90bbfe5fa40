#include "machine/wait.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <poll.h>

#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

/// How long ^C may take to be noticed.
constexpr std::chrono::milliseconds look_up_every{100};

}  // namespace

Wait::Wait(const Watch& watch, std::string what, std::chrono::milliseconds limit)
    : watch_(watch), what_(std::move(what)), limit_(limit) {}

std::chrono::milliseconds Wait::left() const {
    const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - began_);
    return std::max(limit_ - passed, std::chrono::milliseconds(0));
}

std::chrono::seconds Wait::elapsed() const {
    return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() -
                                                            began_);
}

Error Wait::timeout() const {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit_);
    return error("{} within {}", what_,
                 counted(static_cast<std::size_t>(seconds.count()), "second"));
}

void Wait::check() const {
    watch_.ctx.check_cancelled();
    if (watch_.check) {
        watch_.check();
    }
    if (over()) {
        throw timeout();
    }
}

void Wait::poll(int descriptor, short events) const {
    check();
    pollfd wanted{descriptor, events, 0};
    const int most = static_cast<int>(std::min(left(), look_up_every).count());
    if (::poll(&wanted, 1, std::max(most, 1)) < 0 && errno != EINTR) {
        throw errno_error("poll", errno);
    }
}

void Wait::readable(int descriptor) const {
    poll(descriptor, POLLIN);
}

void Wait::writable(int descriptor) const {
    poll(descriptor, POLLOUT);
}

}  // namespace edgegpu
