#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "support/error.hpp"
#include "support/handles.hpp"

namespace edgegpu {

// Paths of the image, for the implementation of ImageRoot and Tree.

/// PATH_MAX of Linux: paths that system calls accept have fewer bytes.
inline constexpr std::size_t max_path = 4096;

/// "PATH of the image" for messages; a long path is truncated.
[[nodiscard]] std::string shown(std::string_view path);
/// The Error for a failed system call on a path of the image; `code` is its errno.
[[nodiscard]] Error image_error(std::string_view path, int code);
/// The path without slashes at its end, with which a link would be followed.
[[nodiscard]] std::string_view without_trailing_slashes(std::string_view path);
/// Opens `path` with openat2(2) and `root` as the root directory. Empty, with errno, on failure.
[[nodiscard]] Fd open_in_root(int root, std::string_view path, std::uint64_t flags);
/// Whether an errno means that a path does not exist.
[[nodiscard]] bool is_absent(int code);
/// Inserts the components of `path` at the beginning of `rest`.
void prepend_parts(std::deque<std::string>& rest, std::string_view path);
/// The target of the link at an absolute path; nothing for what is no link, or not there.
using LinkTarget = std::function<std::optional<std::string>(const std::string& path)>;
/// The absolute path of what `path` leads to, as programs of the image see it. A link as the last
/// component is followed only if `follow_last`. Throws Error for more than 40 links.
[[nodiscard]] std::string resolve_links(std::string_view path, bool follow_last,
                                        const LinkTarget& target_of);

}  // namespace edgegpu
