#pragma once

#include <string>
#include <string_view>

namespace edgegpu {

/// The raw value of security.capability (struct vfs_cap_data, revision 2, of
/// <linux/capability.h>) for a text as RPM headers hold it (cap_from_text(3):
/// "cap_net_raw,cap_net_admin=ep"). Empty for an empty text or "=". Throws Error for a text
/// that is none.
[[nodiscard]] std::string parse_capabilities(std::string_view text);

/// A raw value of security.capability as an image carries it: revision 3, which the kernel stores
/// for a file of a user namespace, becomes revision 2; everything else is as it was. Throws Error
/// for capabilities of a namespace inside the image, which would be more without it. `path` is for
/// the message.
[[nodiscard]] std::string without_namespace(std::string raw, std::string_view path);

}  // namespace edgegpu
