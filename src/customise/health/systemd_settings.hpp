#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "image/tree.hpp"

namespace edgegpu {

/// The content of a regular file of the image; nothing if there is none.
[[nodiscard]] std::optional<std::string> text_of_file(const Tree& tree, std::string_view path);

/// Drop-ins of "journald.conf" or "system/boot.mount", name → path, in the order in which they
/// count: one of /etc replaces that of the same name in /usr.
[[nodiscard]] std::map<std::string, std::string> drop_ins_of(const Tree& tree,
                                                             std::string_view file);

}  // namespace edgegpu
