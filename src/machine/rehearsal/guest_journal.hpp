#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "machine/guest.hpp"

namespace edgegpu {

/// Adds the last lines of the guest's journal, of those that `selection` (words for the shell)
/// leaves: what helps to find the cause of a failure. A guest that does not answer, or has no
/// journal, adds a line that says so; throws only ErrorKind::interrupted.
void add_journal(Guest& guest, const std::string& selection, std::vector<std::string>& details);

/// Whole seconds since then, rounded up.
[[nodiscard]] long seconds_since(std::chrono::steady_clock::time_point then);

}  // namespace edgegpu
