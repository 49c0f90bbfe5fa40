#include "report/line_changes.hpp"

#include <algorithm>
#include <unordered_set>

namespace edgegpu {

namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
    constexpr std::string_view blank = " \t\r";
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        line.remove_prefix(std::min(line.size(), line.find_first_not_of(blank)));
        line = line.substr(0, line.find_last_not_of(blank) + 1);
        if (!line.empty() && line.front() != '#') {
            lines.push_back(line);
        }
    }
    return lines;
}

std::vector<std::string> without(const std::vector<std::string_view>& lines,
                                 const std::vector<std::string_view>& others) {
    // A line that is there twice is told once.
    std::unordered_set<std::string_view> known(others.begin(), others.end());
    std::vector<std::string> rest;
    for (const std::string_view line : lines) {
        if (known.insert(line).second) {
            rest.emplace_back(line);
        }
    }
    return rest;
}

}  // namespace

LineChanges compare_lines(std::string_view before, std::string_view after) {
    const std::vector<std::string_view> old_lines = lines_of(before);
    const std::vector<std::string_view> new_lines = lines_of(after);
    return {without(new_lines, old_lines), without(old_lines, new_lines)};
}

}  // namespace edgegpu
