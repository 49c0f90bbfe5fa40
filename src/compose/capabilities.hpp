#pragma once

#include <string>
#include <string_view>

namespace edgegpu {

/// The raw value of security.capability (struct vfs_cap_data, revision 2, of
/// <linux/capability.h>) for a text as RPM headers hold it (cap_from_text(3):
/// "cap_net_raw,cap_net_admin=ep"). Empty for an empty text or "=". Throws Error for a text
/// that is none.
[[nodiscard]] std::string parse_capabilities(std::string_view text);

}  // namespace edgegpu
