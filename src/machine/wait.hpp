#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "execution/context.hpp"
#include "support/error.hpp"

namespace edgegpu {

/// What every wait for a machine looks at besides what it waits for.
struct Watch {
    const Context& ctx;
    /// Called several times a second; throws Error when waiting has become pointless. May be empty.
    std::function<void()> check;
};

/// A wait with a limit, for something that another program has to do, which may never do it.
class Wait {
public:
    /// `what` completes "… within N seconds": "QEMU did not answer". `watch` must outlive it.
    Wait(const Watch& watch, std::string what, std::chrono::milliseconds limit);

    /// Throws Error if the limit is reached, whatever Watch::check throws, and
    /// ErrorKind::interrupted on cancellation.
    void check() const;
    /// Waits until `descriptor` can be read or a tenth of a second is over; checks before.
    void readable(int descriptor) const;
    /// The same until it can be written to.
    void writable(int descriptor) const;
    /// Seconds since it began.
    [[nodiscard]] std::chrono::seconds elapsed() const;
    /// Until the limit; not negative.
    [[nodiscard]] std::chrono::milliseconds left() const;
    [[nodiscard]] bool over() const { return left().count() == 0; }
    /// The Error of a limit that has been reached.
    [[nodiscard]] Error timeout() const;

private:
    void poll(int descriptor, short events) const;

    const Watch& watch_;
    std::string what_;
    std::chrono::milliseconds limit_;
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace edgegpu
