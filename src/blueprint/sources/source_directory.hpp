#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "support/error.hpp"

namespace edgegpu {

/// A file, directory or symbolic link below a directory of the build machine.
struct SourceObject {
    /// Relative to the directory: "etc/motd".
    std::string name;
    /// st_mode
    unsigned mode = 0;
    /// Files: bytes.
    std::uint64_t size = 0;
    /// Symbolic links: the target.
    std::string target;
    /// Files: has capabilities.
    bool has_capabilities = false;
    /// Files, with `open_files`: a descriptor to read from, valid during the visit; else -1.
    int file = -1;
};

/// Makes the error for an object that cannot be used; `reason` is "is a fifo" or the like.
using SourceRefusal = std::function<Error(std::string_view name, std::string_view reason)>;

/// Visits everything below a directory, each directory before its content, names in bytewise order.
/// `top` itself may be a link; other links are never followed, even if one replaces a directory
/// during the walk. Devices, fifos and sockets are never opened. Throws the error of `refuse` for
/// those, for names longer than 4095 bytes, and for objects that cannot be read or have
/// disappeared. If `goes_on` returns true for such an Error, or for one of `visit`, the walk leaves
/// the object out and goes on.
void walk_source(const std::filesystem::path& top, bool open_files,
                 const std::function<void(const SourceObject&)>& visit, const SourceRefusal& refuse,
                 const std::function<bool(const Error&)>& goes_on = {});

/// How much of a file `source_head` reads.
inline constexpr std::size_t largest_head = 16U << 20U;

/// The content of an open file (`name` is for errors) from its beginning: at most `largest_head`
/// bytes, and only the first ones of a large file that is no text.
[[nodiscard]] std::string source_head(int file, const std::string& name);
[[nodiscard]] std::string source_head(const std::filesystem::path& path);

/// The hint for such an object.
[[nodiscard]] std::string unfit_kind_hint();

}  // namespace edgegpu
