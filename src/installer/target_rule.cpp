#include "installer/target_rule.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fnmatch.h>

#include "support/error.hpp"
#include "support/ranges.hpp"
#include "support/text/quantity.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

using Property = TargetCondition::Property;
using Operator = TargetCondition::Operator;

constexpr std::array<std::pair<std::string_view, Property>, 7> properties{
    {{"size", Property::size},
     {"model", Property::model},
     {"serial", Property::serial},
     {"vendor", Property::vendor},
     {"path", Property::path},
     {"transport", Property::transport},
     {"removable", Property::removable}}};

constexpr std::array<std::pair<std::string_view, Operator>, 3> operators{
    {{">=", Operator::at_least}, {"<=", Operator::at_most}, {"=", Operator::equal}}};

template <typename Table, typename Value>
std::string_view name_in(const Table& table, Value value) {
    return std::ranges::find_if(table, [value](const auto& row) { return row.second == value; })
        ->first;
}

Error rule_error(std::string_view rule, const std::string& what) {
    return error(ErrorKind::usage, "--target-rule '{}': {}", rule, what);
}

Property property_named(std::string_view name, std::string_view rule) {
    const auto* const found =
        std::ranges::find_if(properties, [name](const auto& row) { return row.first == name; });
    if (found != properties.end()) {
        return found->second;
    }
    const std::vector<std::string> names =
        mapped(properties, [](const auto& row) { return std::string(row.first); });
    const std::string near = near_names_hint(name, names);
    throw rule_error(rule, fmt::format("there is no property '{}'", name))
        .hinted(near.empty() ? std::string(target_rule_forms) : near);
}

/// The operand in the form that TargetCondition has it in.
std::string checked_operand(Property property, Operator comparison, std::string_view operand,
                            std::string_view rule) {
    if (property == Property::size) {
        const std::optional<std::uint64_t> bytes = parse_size(operand);
        if (comparison == Operator::equal || !bytes) {
            throw rule_error(rule, "size is compared with >= or <=, and a size such as 100G");
        }
        return std::to_string(*bytes);
    }
    if (comparison != Operator::equal) {
        throw rule_error(rule, fmt::format("{} is compared with =", name_in(properties, property)));
    }
    if (operand.empty()) {
        throw rule_error(rule, fmt::format("{} has no value", name_in(properties, property)));
    }
    if (property == Property::removable && operand != "yes" && operand != "no") {
        throw rule_error(rule, "removable is yes or no");
    }
    const auto control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
    if (std::ranges::any_of(operand, control)) {
        throw rule_error(rule, "a value has a control character");
    }
    return std::string(operand);
}

TargetCondition condition_in(std::string_view text, std::string_view rule) {
    const std::size_t at = text.find_first_of("<>=");
    if (at == std::string_view::npos) {
        throw rule_error(rule, fmt::format("'{}' compares nothing", text))
            .hinted(std::string(target_rule_forms));
    }
    const std::string_view rest = text.substr(at);
    const auto* const found = std::ranges::find_if(
        operators, [rest](const auto& row) { return rest.starts_with(row.first); });
    if (found == operators.end()) {
        throw rule_error(rule, fmt::format("'{}' has no operator: =, >= or <=", text));
    }
    TargetCondition condition;
    condition.property = property_named(trim(text.substr(0, at)), rule);
    condition.comparison = found->second;
    condition.operand = checked_operand(condition.property, condition.comparison,
                                        trim(rest.substr(found->first.size())), rule);
    return condition;
}

/// Whether a condition says of itself whether removable disks match: those with USB are.
bool says_removable(const TargetCondition& condition) {
    return condition.property == Property::removable ||
           (condition.property == Property::transport &&
            ::fnmatch(condition.operand.c_str(), "usb", 0) == 0);
}

}  // namespace

TargetRule parse_target_rule(std::string_view text) {
    TargetRule rule;
    rule.text = text;
    bool removable = false;
    if (trim(text) != "any") {
        for (const std::string_view part : split(text, ',')) {
            if (trim(part).empty()) {
                throw rule_error(text, "a condition is empty")
                    .hinted(std::string(target_rule_forms));
            }
            rule.conditions.push_back(condition_in(trim(part), text));
            removable = removable || says_removable(rule.conditions.back());
        }
    }
    if (!removable) {
        rule.conditions.push_back({Property::removable, Operator::equal, "no"});
    }
    return rule;
}

std::string target_rule_lines(const TargetRule& rule) {
    return sum_of(rule.conditions, [&](const TargetCondition& condition) {
        return fmt::format("{} {} {}\n", name_in(properties, condition.property),
                           name_in(operators, condition.comparison), condition.operand);
    });
}

}  // namespace edgegpu
