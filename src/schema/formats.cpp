#include "schema/formats.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "support/text/dns_name.hpp"
#include "support/text/enum_names.hpp"

namespace edgegpu {

namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Removes the digits that `text` begins with; their number.
std::size_t take_digits(std::string_view& text) {
    const auto end = std::ranges::find_if_not(text, is_digit);
    const auto count = static_cast<std::size_t>(end - text.begin());
    text.remove_prefix(count);
    return count;
}

void take_sign(std::string_view& text) {
    if (text.starts_with('+') || text.starts_with('-')) {
        text.remove_prefix(1);
    }
}

/// The grammar in k8s.io/apimachinery/pkg/api/resource; white space around it is dropped there.
bool is_quantity(std::string_view text) {
    constexpr std::string_view space = " \t\n\v\f\r";
    text.remove_prefix(std::min(text.find_first_not_of(space), text.size()));
    text = text.substr(0, text.find_last_not_of(space) + 1);
    constexpr auto suffixes = std::to_array<std::string_view>(
        {"", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"});
    take_sign(text);
    std::size_t digits = take_digits(text);
    if (text.starts_with('.')) {
        text.remove_prefix(1);
        digits += take_digits(text);
    }
    if (digits == 0) {
        return false;
    }
    if (std::ranges::find(suffixes, text) != suffixes.end()) {
        return true;
    }
    if (!text.starts_with('e') && !text.starts_with('E')) {
        return false;
    }
    text.remove_prefix(1);
    take_sign(text);
    return take_digits(text) > 0 && text.empty();
}

/// The grammar of Go's time.ParseDuration.
bool is_duration(std::string_view text) {
    constexpr auto units =
        std::to_array<std::string_view>({"ns", "us", "\u00b5s", "\u03bcs", "ms", "s", "m", "h"});
    take_sign(text);
    if (text == "0") {
        return true;
    }
    if (text.empty()) {
        return false;
    }
    while (!text.empty()) {
        std::size_t digits = take_digits(text);
        if (text.starts_with('.')) {
            text.remove_prefix(1);
            digits += take_digits(text);
        }
        // "ms" before "m"
        const auto unit =
            std::ranges::find_if(units, [&](auto name) { return text.starts_with(name); });
        if (digits == 0 || unit == units.end()) {
            return false;
        }
        text.remove_prefix(unit->size());
    }
    return true;
}

/// With padding; Go's decoder skips the ends of lines.
bool is_base64(std::string_view text) {
    std::size_t characters = 0;
    std::size_t padding = 0;
    for (const char c : text) {
        if (c == '\n' || c == '\r') {
            continue;
        }
        const bool letter =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '+' || c == '/';
        padding += c == '=' ? 1 : 0;
        if ((!letter && c != '=') || (letter && padding > 0)) {
            return false;
        }
        ++characters;
    }
    return characters % 4 == 0 && padding <= 2;
}

/// Whether `text` is like `shape`, in which 0 is any digit; removes it.
bool take_shape(std::string_view& text, std::string_view shape) {
    if (text.size() < shape.size()) {
        return false;
    }
    const bool same = std::equal(shape.begin(), shape.end(), text.begin(), [](char wanted, char c) {
        return wanted == '0' ? is_digit(c) : wanted == c;
    });
    text.remove_prefix(shape.size());
    return same;
}

bool is_date_time(std::string_view text) {
    if (!take_shape(text, "0000-00-00T00:00:00")) {
        return false;
    }
    if (text.starts_with('.')) {
        text.remove_prefix(1);
        if (take_digits(text) == 0) {
            return false;
        }
    }
    if (text == "Z") {
        return true;
    }
    const bool zone = text.starts_with('+') || text.starts_with('-');
    take_sign(text);
    return zone && take_shape(text, "00:00") && text.empty();
}

bool is_label_value(std::string_view text) {
    constexpr std::size_t longest = 63;
    const auto outer = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c);
    };
    return text.empty() || (text.size() <= longest && outer(text.front()) && outer(text.back()) &&
                            std::ranges::all_of(text, [&](char c) {
                                return outer(c) || c == '-' || c == '_' || c == '.';
                            }));
}

}  // namespace

std::string_view enum_name(StringFormat format) {
    return nth_name(format, {"quantity", "byte", "date-time", "duration", "dns-label",
                             "dns-subdomain", "label-value"});
}

bool has_format(std::string_view text, StringFormat format) {
    switch (format) {
        case StringFormat::quantity:
            return is_quantity(text);
        case StringFormat::byte:
            return is_base64(text);
        case StringFormat::date_time:
            return is_date_time(text);
        case StringFormat::dns_label:
            return is_dns_label(text);
        case StringFormat::dns_subdomain:
            return is_dns_subdomain(text);
        case StringFormat::label_value:
            return is_label_value(text);
        case StringFormat::duration:
            return is_duration(text);
    }
    return false;
}

std::optional<std::string> near_quantity(std::string_view text) {
    constexpr std::size_t longest = 32;
    if (text.size() > longest) {
        return std::nullopt;
    }
    std::string number(text);
    std::erase(number, ' ');
    if (number.ends_with('b') || number.ends_with('B')) {
        number.pop_back();
    }
    const std::size_t unit = number.find_last_of("0123456789.") + 1;
    const std::string digits = number.substr(0, unit);
    std::string suffix = number.substr(unit);
    if (is_quantity(digits + suffix)) {
        return digits + suffix;
    }
    // "gi", "GI", "g", "K"
    for (std::size_t i = 0; i < suffix.size(); ++i) {
        const auto lower = static_cast<char>(static_cast<unsigned char>(suffix[i]) | 0x20U);
        suffix[i] = i == 0 ? static_cast<char>(static_cast<unsigned char>(lower) & 0xDFU) : lower;
    }
    if (suffix == "K") {
        suffix = "k";
    }
    return is_quantity(digits + suffix) ? std::optional(digits + suffix) : std::nullopt;
}

}  // namespace edgegpu
