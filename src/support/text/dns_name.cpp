#include "support/text/dns_name.hpp"

#include <algorithm>
#include <cstddef>

#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::size_t longest_label = 63;
constexpr std::size_t longest_subdomain = 253;

bool is_dns_part(std::string_view text) {
    const auto outer = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
    return !text.empty() && outer(text.front()) && outer(text.back()) &&
           std::ranges::all_of(text, [&](char c) { return outer(c) || c == '-'; });
}

}  // namespace

bool is_dns_label(std::string_view text) {
    return text.size() <= longest_label && is_dns_part(text);
}

bool is_dns_subdomain(std::string_view text) {
    return text.size() <= longest_subdomain && std::ranges::all_of(split(text, '.'), is_dns_part);
}

}  // namespace edgegpu
