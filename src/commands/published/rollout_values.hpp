#pragma once

#include <cstdint>
#include <string>

#include "commands/commands.hpp"

namespace edgegpu {

/// Values of the options of `rollout`.

/// "5%", "0.25%", "100%" in parts per million. Throws ErrorKind::usage naming the option.
[[nodiscard]] std::int64_t parse_share(const std::string& option, const std::string& text);

/// "2027-01-31T22:00", with ":SS" and "Z" if wanted, "2027-01-31 22:00" or "@1801432800" as Unix
/// time. Throws ErrorKind::usage, also for a time before `now` or more than ten years after it.
[[nodiscard]] std::int64_t parse_start(const std::string& text, std::int64_t now);

/// Seconds of a duration option that was checked; `fallback` if it is empty.
[[nodiscard]] std::int64_t seconds_of(const std::string& text, std::int64_t fallback);

/// Throws ErrorKind::usage for options that the command's action does not take.
void require_fitting_options(const RolloutCommand& command);

}  // namespace edgegpu
