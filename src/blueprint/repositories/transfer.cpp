#include "blueprint/repositories/transfer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "blueprint/toml/toml_reader.hpp"
#include "blueprint/toml/validate.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// Parses NUMBER or NUMBER.FRACTION with an optional unit: a letter of `units`, whose factor has
/// the same index.
std::optional<int> parse_scaled(std::string_view text, std::string_view units,
                                const std::array<double, 4>& factors, double largest) {
    double factor = 1;
    if (!text.empty()) {
        const std::size_t unit = units.find(text.back());
        if (unit != std::string_view::npos) {
            factor = factors.at(unit);
            text.remove_suffix(1);
        }
    }
    if (text.empty() || text.find_first_not_of("0123456789.") != std::string_view::npos) {
        return std::nullopt;
    }
    double number = 0;
    const char* end = text.data() + text.size();
    const auto [stop, code] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
    if (code != std::errc{} || stop != end || number * factor > largest) {
        return std::nullopt;
    }
    return static_cast<int>(number * factor);
}

}  // namespace

std::string checked_proxy(const SourceLocation& location, std::string_view key,
                          std::string_view value) {
    if (value.empty() || value == "_none_") {
        return "_none_";
    }
    static constexpr std::array<std::string_view, 7> schemes{
        "http", "https", "ftp", "socks4", "socks4a", "socks5", "socks5h"};
    const std::size_t colon = value.find("://");
    const std::string scheme = lower_case(value.substr(0, colon));
    const bool known =
        colon != std::string_view::npos && std::ranges::find(schemes, scheme) != schemes.end();
    const std::string_view rest = known ? value.substr(colon + 3) : std::string_view{};
    const std::string_view host = rest.substr(0, rest.find('/'));
    const bool empty_host = host.empty() || host.front() == ':' || host.back() == '@';
    if (empty_host || value.find(' ') != std::string_view::npos || has_control_characters(value)) {
        // The URL is not quoted: it may contain a password.
        throw error_at(location, "\"{}\" must be the URL of a proxy", key)
            .hinted(fmt::format("as in \"http://proxy.example.com:3128\", or \"_none_\"; "
                                "schemes are {}",
                                fmt::join(schemes, ", ")));
    }
    return std::string(value);
}

ProxyAuthentication parse_proxy_auth_method(const SourceLocation& location, std::string_view key,
                                            std::string_view value) {
    const std::string name = lower_case(value);
    if (const auto method = value_named<ProxyAuthentication>(name)) {
        return *method;
    }
    std::vector<std::string> names;
    each_value<ProxyAuthentication>(
        [&](ProxyAuthentication method) { names.emplace_back(enum_name(method)); });
    Error unknown = error_at(location, "\"{}\" must be one of {}, not \"{}\"", key,
                             expected_names<ProxyAuthentication>(), value);
    const std::vector<std::string> near = nearest_names(name, names);
    throw near.empty() ? unknown
                       : unknown.hinted(fmt::format("did you mean \"{}\"?", near.front()));
}

std::optional<int> parse_seconds(std::string_view text) {
    constexpr double day = 86400;
    return parse_scaled(text, "smhd", {1, 60, 3600, day}, day);
}

std::optional<int> parse_bandwidth(std::string_view text) {
    constexpr double kibi = 1024;
    return parse_scaled(text, "kMG", {kibi, kibi * kibi, kibi * kibi * kibi, 0},
                        std::numeric_limits<int>::max());
}

}  // namespace edgegpu
