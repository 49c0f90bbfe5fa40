#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// Lines that were added to and removed from a configuration file.
struct LineChanges {
    /// in the file's order
    std::vector<std::string> gained;
    std::vector<std::string> lost;

    [[nodiscard]] bool empty() const { return gained.empty() && lost.empty(); }
};

/// Compares two texts as sets of lines, ignoring order, blank lines, comments (#) and white space
/// around lines.
[[nodiscard]] LineChanges compare_lines(std::string_view before, std::string_view after);

}  // namespace edgegpu
