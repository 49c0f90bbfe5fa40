#include "report/line_changes.hpp"

#include <unordered_set>

#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// The lines that are neither empty nor comments, trimmed.
std::vector<std::string_view> settings_of(std::string_view text) {
    std::vector<std::string_view> lines;
    for (const std::string_view whole : lines_of(text)) {
        const std::string_view line = trim(whole);
        if (!line.empty() && line.front() != '#') {
            lines.push_back(line);
        }
    }
    return lines;
}

std::vector<std::string> without(const std::vector<std::string_view>& lines,
                                 const std::vector<std::string_view>& others) {
    // A line that occurs twice is listed once.
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
    const std::vector<std::string_view> old_lines = settings_of(before);
    const std::vector<std::string_view> new_lines = settings_of(after);
    return {without(new_lines, old_lines), without(old_lines, new_lines)};
}

}  // namespace edgegpu
