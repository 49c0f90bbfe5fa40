#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// Number of ids of an image: 0 to 65534 (65535 is reserved).
inline constexpr std::uint32_t image_ids = 65535;
/// The id of edgegpu's caller in the build's user namespace.
inline constexpr std::uint32_t caller_id = 65536;

/// Consecutive ids.
struct IdRange {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};

/// One line of /proc/PID/uid_map or gid_map (user_namespaces(7)): `count` ids from `inside` on are
/// those from `outside` on in the parent namespace.
struct IdExtent {
    std::uint32_t inside = 0;
    std::uint32_t outside = 0;
    std::uint32_t count = 0;
};
using IdMap = std::vector<IdExtent>;

/// Parses the text of /proc/PID/uid_map, skipping malformed lines.
[[nodiscard]] IdMap parse_id_map(std::string_view text);
/// The id in the parent namespace of an id of this one; nothing for an id without one, as which the
/// kernel shows ids that are not mapped.
[[nodiscard]] std::optional<std::uint32_t> id_outside(const IdMap& map, std::uint32_t id);
/// The text to write to /proc/PID/uid_map.
[[nodiscard]] std::string format_id_map(const IdMap& map);

/// The build's map for an ordinary user: ids of the image are the first ones of `subordinate`, the
/// user's ranges in /etc/subuid or /etc/subgid; `caller_id` is the user. Empty if these are not
/// enough ids.
[[nodiscard]] IdMap map_for_user(const std::vector<IdRange>& subordinate, std::uint32_t caller);

/// The build's map for root of a namespace whose map is `current`. In the initial namespace, ids of
/// the image are the first range from 1879048192 (0x70000000: above those that distributions,
/// systemd and containers allocate) that does not overlap with `taken`; in a container they are its
/// last ones. Root and the ids below those of the image are mapped from `caller_id` on, so that
/// root's access to files stays the same. Empty if there are not enough ids.
[[nodiscard]] IdMap map_for_root(const IdMap& current, const std::vector<IdRange>& taken);

/// The ranges of all users in /etc/subuid or /etc/subgid (subuid(5): "NAME:FIRST:COUNT").
[[nodiscard]] std::vector<IdRange> parse_subordinate_file(std::string_view text);

}  // namespace edgegpu
