#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "report/diff_policy.hpp"

namespace edgegpu {

namespace {

/// The position of the blank before P in "allow S T:C P[ CONDITION]"; npos for other lines.
std::size_t permission_of(const std::string& rule) {
    std::size_t blank = rule.starts_with("allow ") ? rule.find(' ') : std::string::npos;
    for (int names = 0; names < 2 && blank != std::string::npos; ++names) {
        blank = rule.find(' ', blank + 1);
    }
    return blank;
}

}  // namespace

NameChanges compare_names(const std::set<std::string>& before, const std::set<std::string>& after) {
    NameChanges changes;
    std::ranges::set_difference(after, before, std::back_inserter(changes.gained));
    std::ranges::set_difference(before, after, std::back_inserter(changes.lost));
    return changes;
}

void compare_rules(const std::set<std::string>& before, const std::set<std::string>& after,
                   PolicyChanges& policy) {
    const NameChanges all = compare_names(before, after);
    const auto sort_out = [&](const std::vector<std::string>& lines,
                              std::vector<std::string> NameChanges::*side) {
        for (const std::string& line : lines) {
            for (const auto& [prefix, changes] :
                 {std::pair<std::string_view, NameChanges*>{"permissive ", &policy.permissive},
                  {"typeattribute ", &policy.attributes},
                  {"", &policy.rules}}) {
                if (line.starts_with(prefix)) {
                    (changes->*side).push_back(line.substr(prefix.size()));
                    break;
                }
            }
        }
    };
    sort_out(all.gained, &NameChanges::gained);
    sort_out(all.lost, &NameChanges::lost);
}

std::vector<std::string> merged_rules(const std::vector<std::string>& rules) {
    // (text before the permission, text after it) → permissions
    std::map<std::pair<std::string, std::string>, std::set<std::string>> merged;
    for (const std::string& rule : rules) {
        const std::size_t begin = permission_of(rule);
        if (begin == std::string::npos) {
            merged[{rule, ""}];
            continue;
        }
        const std::size_t end = std::min(rule.find(' ', begin + 1), rule.size());
        merged[{rule.substr(0, begin), rule.substr(end)}].insert(
            rule.substr(begin + 1, end - begin - 1));
    }
    std::vector<std::string> lines;
    for (const auto& [frame, permissions] : merged) {
        if (permissions.empty()) {
            lines.push_back(frame.first);
        } else if (permissions.size() == 1) {
            lines.push_back(
                fmt::format("{} {}{}", frame.first, *permissions.begin(), frame.second));
        } else {
            lines.push_back(fmt::format("{} {{ {} }}{}", frame.first, fmt::join(permissions, " "),
                                        frame.second));
        }
    }
    return lines;
}

std::vector<std::string> merged_attributes(const std::vector<std::string>& attributes) {
    std::map<std::string, std::vector<std::string>> merged;
    for (const std::string& line : attributes) {
        const std::size_t blank = std::min(line.find(' '), line.size());
        merged[line.substr(0, blank)].push_back(line.substr(std::min(blank + 1, line.size())));
    }
    std::vector<std::string> lines;
    lines.reserve(merged.size());
    for (const auto& [type, names] : merged) {
        lines.push_back(fmt::format("{}: {}", type, fmt::join(names, ", ")));
    }
    return lines;
}

}  // namespace edgegpu
