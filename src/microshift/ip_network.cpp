#include "microshift/ip_network.hpp"

#include <algorithm>
#include <string_view>

#include <arpa/inet.h>

#include "support/text/number.hpp"

namespace edgegpu {

std::optional<IpAddress> IpAddress::parse(const std::string& text) {
    constexpr std::array<std::uint8_t, 12> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
    // inet_pton would read up to a NUL within.
    if (text.find('\0') != std::string::npos) {
        return std::nullopt;
    }
    IpAddress address;
    if (::inet_pton(AF_INET, text.c_str(), address.bytes.data()) == 1) {
        return address;
    }
    std::array<std::uint8_t, 16> long_form{};
    if (::inet_pton(AF_INET6, text.c_str(), long_form.data()) != 1) {
        return std::nullopt;
    }
    if (std::equal(mapped.begin(), mapped.end(), long_form.begin())) {
        std::copy(long_form.begin() + mapped.size(), long_form.end(), address.bytes.begin());
        return address;
    }
    return IpAddress{IpFamily::v6, long_form};
}

std::optional<IpNetwork> IpNetwork::parse(const std::string& text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string::npos) {
        return std::nullopt;
    }
    const std::optional<IpAddress> address = IpAddress::parse(text.substr(0, slash));
    const auto prefix = whole_number<unsigned>(std::string_view(text).substr(slash + 1));
    if (!address || !prefix || *prefix > (address->family == IpFamily::v4 ? 32U : 128U)) {
        return std::nullopt;
    }
    return IpNetwork{*address, *prefix};
}

unsigned IpNetwork::host_bits() const {
    return (address.family == IpFamily::v4 ? 32U : 128U) - prefix;
}

bool IpNetwork::contains(const IpAddress& other) const {
    if (other.family != address.family) {
        return false;
    }
    for (unsigned bit = 0; bit < prefix; ++bit) {
        const unsigned mask = 0x80U >> (bit % 8);
        if ((address.bytes[bit / 8] & mask) != (other.bytes[bit / 8] & mask)) {
            return false;
        }
    }
    return true;
}

bool IpNetwork::same_as(const IpNetwork& other) const {
    return prefix == other.prefix && contains(other.address);
}

}  // namespace edgegpu
