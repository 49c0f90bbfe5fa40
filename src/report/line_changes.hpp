#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// Lines of a configuration file that came and went.
struct LineChanges {
    /// in the file's order
    std::vector<std::string> gained;
    std::vector<std::string> lost;

    [[nodiscard]] bool empty() const { return gained.empty() && lost.empty(); }
};

/// Compares two texts as sets of lines; blank lines, comments (#) and white space around lines do
/// not count, nor does the order.
[[nodiscard]] LineChanges compare_lines(std::string_view before, std::string_view after);

}  // namespace edgegpu
