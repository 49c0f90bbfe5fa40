#include "support/text/quantity.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace edgegpu {

namespace {

/// The non-negative number at the beginning, and what follows it without blanks; nothing if there
/// is no number.
std::optional<std::pair<double, std::string_view>> split_number(std::string_view text) {
    const std::size_t digits = text.find_first_not_of("0123456789.");
    const std::string_view number = text.substr(0, digits);
    double value = 0;
    const auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), value,
                                             std::chars_format::fixed);
    if (code != std::errc{} || end != number.data() + number.size()) {
        return std::nullopt;
    }
    std::string_view unit = text.substr(number.size());
    unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
    return std::pair{value, unit};
}

/// The factor of a size's unit; nothing for an unknown one.
std::optional<double> size_factor(std::string_view unit) {
    if (unit.empty() || unit == "B") {
        return 1;
    }
    const std::size_t power =
        std::string_view("KMGT").find(unit.front() == 'k' ? 'K' : unit.front());
    const std::string_view rest = unit.substr(1);
    if (power == std::string_view::npos || (!rest.empty() && rest != "iB" && rest != "B")) {
        return std::nullopt;
    }
    return std::pow(rest == "B" ? 1000.0 : 1024.0, static_cast<double>(power + 1));
}

std::optional<double> duration_factor(std::string_view unit) {
    constexpr std::pair<char, double> units[] = {
        {'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}};
    for (const auto& [name, seconds] : units) {
        if (unit.size() == 1 && unit.front() == name) {
            return seconds;
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> parse_size(std::string_view text) {
    const auto parts = split_number(text);
    const std::optional<double> factor = parts ? size_factor(parts->second) : std::nullopt;
    if (!factor || parts->first * *factor >= 9.2e18) {
        return std::nullopt;
    }
    return static_cast<std::uint64_t>(parts->first * *factor);
}

std::optional<std::chrono::seconds> parse_duration(std::string_view text) {
    const auto parts = split_number(text);
    const std::optional<double> factor = parts ? duration_factor(parts->second) : std::nullopt;
    if (!factor || parts->first * *factor > 3.2e10) {
        return std::nullopt;
    }
    return std::chrono::seconds(static_cast<std::int64_t>(parts->first * *factor));
}

}  // namespace edgegpu
