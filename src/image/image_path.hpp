#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "support/error.hpp"
#include "support/handles.hpp"

namespace edgegpu {

/// What the files of ImageRoot share; nobody else needs it.

/// PATH_MAX of Linux: a path that a program can name has fewer bytes.
inline constexpr std::size_t max_path = 4096;

/// "PATH of the image" for messages; a long path is cut.
[[nodiscard]] std::string shown(std::string_view path);
/// What the system says of a path of the image; `code` is errno's.
[[nodiscard]] Error image_error(std::string_view path, int code);
/// The path without the slashes at its end, which would mean that a link there is followed.
[[nodiscard]] std::string_view without_trailing_slashes(std::string_view path);
/// Opens `path` in the directory `root` as the image sees it. Empty, with errno, where that fails.
[[nodiscard]] Fd open_in_root(int root, std::string_view path, std::uint64_t flags);
/// Whether errno says that there is nothing at a path.
[[nodiscard]] bool is_absent(int code);
/// Puts the components of `path` before those of `rest`.
void prepend_parts(std::deque<std::string>& rest, std::string_view path);

}  // namespace edgegpu
