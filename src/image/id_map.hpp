#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// Accounts of an image have numbers below this: all of 16 bits but 65535, which is no account.
inline constexpr std::uint32_t image_ids = 65535;
/// The number that the caller of edgegpu has in the build's user namespace.
inline constexpr std::uint32_t caller_id = 65536;

/// Consecutive ids.
struct IdRange {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};

/// One line of /proc/PID/uid_map or gid_map (user_namespaces(7)): `count` ids from `inside` on are,
/// in the namespace around it, those from `outside` on.
struct IdExtent {
    std::uint32_t inside = 0;
    std::uint32_t outside = 0;
    std::uint32_t count = 0;
};
using IdMap = std::vector<IdExtent>;

/// Reads /proc/PID/uid_map. Lines that are none are left out.
[[nodiscard]] IdMap parse_id_map(std::string_view text);
/// The lines that the kernel takes.
[[nodiscard]] std::string format_id_map(const IdMap& map);

/// The build's map for an ordinary user: an image's ids are the first of `subordinate`, which are
/// the user's in /etc/subuid or /etc/subgid, and the user is `caller_id`. Empty where these are not
/// enough ids.
[[nodiscard]] IdMap map_for_user(const std::vector<IdRange>& subordinate, std::uint32_t caller);

/// The build's map for root of the namespace that has `current` as its own map. In the machine's
/// first namespace an image's ids are the first range from 1879048192 (0x70000000: above what
/// distributions, systemd and containers give out) that `taken` leaves free; in a container the
/// last ones that it has. Root and the ids below follow from `caller_id` on, so that root can do
/// with files what it always can. Empty where there are not enough ids.
[[nodiscard]] IdMap map_for_root(const IdMap& current, const std::vector<IdRange>& taken);

/// The ranges that /etc/subuid or /etc/subgid (subuid(5): "NAME:FIRST:COUNT") give to anybody.
[[nodiscard]] std::vector<IdRange> parse_subordinate_file(std::string_view text);

}  // namespace edgegpu
