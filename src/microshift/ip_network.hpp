#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace edgegpu {

enum class IpFamily : std::uint8_t { v4, v6 };

/// An address, as Go's net.ParseIP reads it.
struct IpAddress {
    IpFamily family = IpFamily::v4;
    /// In the order of the network; of IPv4 the first four.
    std::array<std::uint8_t, 16> bytes{};

    /// Nothing for text that is no address. An IPv4 address that is written as one of IPv6
    /// ("::ffff:10.0.0.1") is one of IPv4.
    [[nodiscard]] static std::optional<IpAddress> parse(const std::string& text);
    bool operator==(const IpAddress&) const = default;
};

/// "10.42.0.0/16"; bits behind the prefix may be set.
struct IpNetwork {
    IpAddress address;
    unsigned prefix = 0;

    /// Nothing for text that is none.
    [[nodiscard]] static std::optional<IpNetwork> parse(const std::string& text);
    [[nodiscard]] bool contains(const IpAddress& other) const;
    /// Bits of an address of the family that are not in the prefix.
    [[nodiscard]] unsigned host_bits() const;
    /// Whether both have the same addresses.
    [[nodiscard]] bool same_as(const IpNetwork& other) const;
};

}  // namespace edgegpu
