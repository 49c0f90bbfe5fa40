#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "machine/line_channel.hpp"
#include "machine/wait.hpp"

namespace edgegpu {

/// QEMU's monitor (docs/interop/qmp-spec of QEMU): one JSON object a line in both directions.
class Qmp {
public:
    /// Waits for the greeting, and enters command mode. `watch` must outlive it. Throws Error if
    /// the other side is no monitor, or silent for `limit`.
    Qmp(const Watch& watch, Fd socket, std::chrono::seconds limit);

    /// Executes a command and returns what it returns. Throws Error with QEMU's own description if
    /// it fails, if nothing is answered within `limit`, if the connection is closed.
    nlohmann::json execute(std::string_view command, nlohmann::json arguments,
                           std::chrono::seconds limit);
    nlohmann::json execute(std::string_view command, std::chrono::seconds limit) {
        return execute(command, nlohmann::json::object(), limit);
    }
    /// Reads what has come, without waiting.
    void read();
    /// The next event that has come, "RESET", "SHUTDOWN"; the oldest of more than 256 are lost.
    [[nodiscard]] std::optional<std::string> next_event();
    [[nodiscard]] bool closed() const noexcept { return channel_.closed(); }

private:
    /// The next object that is not an event, if it has come.
    [[nodiscard]] std::optional<nlohmann::json> next();
    [[nodiscard]] nlohmann::json await(const Wait& wait);

    const Watch& watch_;
    LineChannel channel_;
    std::deque<std::string> events_;
    std::uint64_t last_id_ = 0;
};

}  // namespace edgegpu
