#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace edgegpu {

/// How a script ended in the guest.
struct GuestResult {
    /// exit status, 128 + signal number, or 124 if the limit was reached
    int status = 0;
    /// stdout and stderr, interleaved; the last 256 KiB
    std::string output;
    bool timed_out = false;
};

/// A guest that has booted, as checks see it. A check never knows what machine there is behind it,
/// so that unit tests can answer for one.
class Guest {
public:
    Guest() = default;
    Guest(const Guest&) = delete;
    Guest& operator=(const Guest&) = delete;
    virtual ~Guest() = default;

    /// Runs a bash script in the guest as root, and waits for it, at most `limit`, after which it
    /// is killed there. Throws Error if the guest is gone or does not answer, and
    /// ErrorKind::interrupted on cancellation.
    virtual GuestResult run(std::string_view script, std::chrono::seconds limit) = 0;
};

}  // namespace edgegpu
