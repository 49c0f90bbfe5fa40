#pragma once

#include <string>
#include <string_view>

namespace edgegpu {

/// The raw value of security.capability (struct vfs_cap_data, revision 2, of <linux/capability.h>)
/// for a text as in RPM headers ("cap_net_raw,cap_net_admin=ep", cap_from_text(3)). Empty if it has
/// no capabilities ("", "="). Throws Error for malformed text.
[[nodiscard]] std::string parse_capabilities(std::string_view text);

/// Whether it is a value of security.capability that the kernel takes: of revision 2 or 3.
[[nodiscard]] bool are_capabilities(std::string_view raw);

/// Converts a raw value of security.capability to that in a commit: revision 3, which the kernel
/// stores in a user namespace, becomes revision 2; other values are returned unchanged. Throws
/// Error for revision 3 of a nested namespace (its root id is not 0), because without the namespace
/// the capabilities would be more powerful. `path` is for the message.
[[nodiscard]] std::string without_namespace(std::string raw, std::string_view path);

}  // namespace edgegpu
