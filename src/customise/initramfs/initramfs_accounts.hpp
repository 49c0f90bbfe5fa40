#pragma once

#include <array>
#include <string>
#include <string_view>

#include "image/tree.hpp"

namespace edgegpu {

/// The account files, from which dracut's modules copy rows.
inline constexpr std::array<std::string_view, 4> account_files{"/etc/passwd", "/etc/group",
                                                               "/etc/shadow", "/etc/gshadow"};

/// The account file at `path` (one of `account_files`) as dracut sees it: only system accounts, as
/// packages and scriptlets left them. Accounts of people and the blueprint's changes of root are
/// left out: they are not needed, could be read on every device, and the initramfs would change
/// with them.
[[nodiscard]] std::string system_accounts(const Tree& tree, std::string_view path);

}  // namespace edgegpu
