#pragma once

#include <string>

#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Adds `file` (absolute, "%u" is the user's name) to AuthorizedKeysFile of the image's sshd, for
/// all users; files that are configured already stay. sshd takes the first value that it reads, in
/// sshd_config and in the files that it includes: a drop-in of our own if that is read before any
/// other value, else the file with the first value is changed. Warns if the image has no sshd.
void add_authorized_keys_file(const Context& ctx, const std::string& file, Tree& tree);

/// The text of sshd_config(5) with `file` added to AuthorizedKeysFile: to the existing line, or in
/// a new one before the first Match block.
[[nodiscard]] std::string with_authorized_keys(const std::string& config, const std::string& file);

}  // namespace edgegpu
