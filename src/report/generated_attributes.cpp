#include "report/generated_attributes.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "support/files/digest.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view mark = "_typeattr_";

bool is_generated(std::string_view name) {
    const std::size_t at = name.rfind(mark);
    return at != std::string_view::npos && at + mark.size() < name.size() &&
           name.find_first_not_of("0123456789", at + mark.size()) == std::string_view::npos;
}

/// Generated attribute → digest of its types that are in `common`.
std::map<std::string, std::string> generated_sets(const selinux::PolicyDb& policy,
                                                  const std::set<std::string>& common) {
    std::map<std::string, std::string> sets;
    for (const std::string& name : policy.attributes()) {
        if (!is_generated(name)) {
            continue;
        }
        Sha256 digest;
        for (const std::string& type : policy.types_of(name)) {
            if (common.contains(type)) {
                digest.update_field(type);
            }
        }
        sets.emplace(name, digest.hex());
    }
    return sets;
}

/// Name in `after` → name to show, if that differs.
std::map<std::string, std::string> new_names(const selinux::PolicyDb& before,
                                             const selinux::PolicyDb& after) {
    const std::set<std::string> types = before.types();
    const std::set<std::string> types_after = after.types();
    std::set<std::string> common;
    std::ranges::set_intersection(types, types_after, std::inserter(common, common.end()));
    std::map<std::string, std::string> old_sets = generated_sets(before, common);
    std::map<std::string, std::string> new_sets = generated_sets(after, common);
    // Attributes with the same name and the same types are the same.
    std::erase_if(new_sets, [&](const auto& item) {
        const auto same = old_sets.find(item.first);
        if (same == old_sets.end() || same->second != item.second) {
            return false;
        }
        old_sets.erase(same);
        return true;
    });
    std::multimap<std::string, std::string> by_set;
    for (const auto& [name, set] : old_sets) {
        by_set.emplace(set, name);
    }
    std::map<std::string, std::string> names;
    std::erase_if(new_sets, [&](const auto& item) {
        const auto match = by_set.find(item.second);
        if (match == by_set.end()) {
            return false;
        }
        names.emplace(item.first, match->second);
        old_sets.erase(match->second);
        by_set.erase(match);
        return true;
    });
    // The others have another set of types than `before` has under this name.
    for (const auto& [name, set] : new_sets) {
        if (!old_sets.contains(name) && before.has_attribute(name)) {
            names.emplace(name, name + '+');
        }
    }
    return names;
}

bool is_name_character(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
}

std::string renamed(const std::string& line, const std::map<std::string, std::string>& names) {
    std::string result;
    for (auto at = line.begin(); at != line.end();) {
        const auto end = std::find_if_not(at, line.end(), is_name_character);
        const std::string word(at, end);
        const auto found = names.find(word);
        result += found == names.end() ? word : found->second;
        at = end;
        if (at != line.end()) {
            result += *at++;
        }
    }
    return result;
}

}  // namespace

std::set<std::string> rule_lines_named_as(const selinux::PolicyDb& before,
                                          const selinux::PolicyDb& after) {
    std::set<std::string> lines = after.rule_lines();
    const std::map<std::string, std::string> names = new_names(before, after);
    if (names.empty()) {
        return lines;
    }
    std::set<std::string> result;
    while (!lines.empty()) {
        auto node = lines.extract(lines.begin());
        if (node.value().find(mark) != std::string::npos) {
            node.value() = renamed(node.value(), names);
        }
        result.insert(std::move(node));
    }
    return result;
}

}  // namespace edgegpu
