#pragma once

#include <string>
#include <string_view>

#include "support/error.hpp"

namespace edgegpu {

/// What rclone said why it failed.
struct RcloneProblem {
    enum class Kind {
        /// rclone's configuration has no such remote, or cannot be read
        configuration,
        /// the server refuses the credentials, or the operation
        access,
        /// the bucket or directory is not there
        place,
        /// the server has no room
        space,
        certificate,
        /// whatever may be over at another attempt
        passing
    };
    Kind kind = Kind::passing;
    /// one line
    std::string reason;
};

/// Reads rclone's standard error, in which lines are JSON objects (--use-json-log) or text: its
/// last error, with the file that it is about.
[[nodiscard]] RcloneProblem problem_in(std::string_view output);

/// What to do about it. `remote` is the remote as it was named.
[[nodiscard]] std::string hint_for(const RcloneProblem& problem, const std::string& remote);

}  // namespace edgegpu
