#include "yaml/yaml_json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "support/ranges.hpp"
#include "support/text/number.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

template <std::size_t Size>
bool is_one_of(const std::array<std::string_view, Size>& words, std::string_view text) {
    return std::ranges::find(words, text) != words.end();
}

constexpr std::array<std::string_view, 5> null_words{"", "~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 9> true_words{"true", "True", "TRUE", "yes", "Yes",
                                                     "YES",  "on",   "On",   "ON"};
constexpr std::array<std::string_view, 9> false_words{"false", "False", "FALSE", "no", "No",
                                                      "NO",    "off",   "Off",   "OFF"};

/// Digits and the base that their prefix names, as Go's strconv.ParseInt reads them with base 0.
std::pair<std::string_view, int> digits_of(std::string_view text) {
    if (text.size() > 1 && text.front() == '0') {
        switch (text[1]) {
            case 'x':
            case 'X':
                return {text.substr(2), 16};
            case 'b':
            case 'B':
                return {text.substr(2), 2};
            case 'o':
            case 'O':
                return {text.substr(2), 8};
            default:
                return {text.substr(1), 8};
        }
    }
    return {text, 10};
}

std::optional<json> integer_of(std::string_view text) {
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) {
        text.remove_prefix(1);
    }
    const auto [digits, base] = digits_of(text);
    if (digits.empty() || digits.front() == '-') {
        return std::nullopt;
    }
    if (!negative) {
        const std::optional<std::uint64_t> value = whole_number<std::uint64_t>(digits, base);
        return value ? std::optional<json>(*value) : std::nullopt;
    }
    const std::string signed_digits = '-' + std::string(digits);
    const std::optional<std::int64_t> value = whole_number<std::int64_t>(signed_digits, base);
    return value ? std::optional<json>(*value) : std::nullopt;
}

/// Decimal floating-point numbers: digits with an optional point and exponent.
std::optional<json> float_of(std::string_view text) {
    std::string_view number = text;
    if (number.starts_with('+') || number.starts_with('-')) {
        number.remove_prefix(1);
    }
    // from_chars also reads "inf" and "nan", which are strings in YAML.
    const bool begins = !number.empty() &&
                        (number.front() == '.' || (number.front() >= '0' && number.front() <= '9'));
    if (!begins) {
        return std::nullopt;
    }
    if (text.starts_with('+')) {
        text.remove_prefix(1);
    }
    double value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = code == std::errc() && end == text.data() + text.size();
    return whole ? std::optional<json>(value) : std::nullopt;
}

json scalar_of(const YamlNode& node) {
    if (node.quoted) {
        return node.text;
    }
    if (is_one_of(null_words, node.text)) {
        return nullptr;
    }
    if (is_one_of(true_words, node.text) || is_one_of(false_words, node.text)) {
        return is_one_of(true_words, node.text);
    }
    if (std::optional<json> number = integer_of(node.text)) {
        return *number;
    }
    if (std::optional<json> number = float_of(node.text)) {
        return *number;
    }
    return node.text;
}

}  // namespace

// NOLINTNEXTLINE(misc-no-recursion): YamlNode has at most 100 levels
nlohmann::json json_of(const YamlNode& node) {
    switch (node.kind) {
        case YamlNode::Kind::sequence: {
            return mapped(node.items, [](const YamlNode& item) { return json_of(item); });
        }
        case YamlNode::Kind::mapping: {
            json object = json::object();
            for (std::size_t i = 0; i < node.keys.size(); ++i) {
                object[node.keys[i]] = json_of(node.items[i]);
            }
            return object;
        }
        case YamlNode::Kind::scalar:
            break;
    }
    return scalar_of(node);
}

}  // namespace edgegpu
