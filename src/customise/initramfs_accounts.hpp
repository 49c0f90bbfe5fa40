#pragma once

#include <array>
#include <string>
#include <string_view>

#include "compose/tree.hpp"

namespace edgegpu {

/// The files of accounts: what dracut's modules copy rows of.
inline constexpr std::array<std::string_view, 4> account_files{"/etc/passwd", "/etc/group",
                                                               "/etc/shadow", "/etc/gshadow"};

[[nodiscard]] bool is_account_file(std::string_view path);

/// The file as dracut sees it: the system accounts that packages bring, and nobody else. People,
/// and what the blueprint says of root, have no place in an initramfs, which every device can read
/// and which would follow each change of them. `path` is one of `account_files`.
[[nodiscard]] std::string system_accounts(const Tree& tree, std::string_view path);

}  // namespace edgegpu
