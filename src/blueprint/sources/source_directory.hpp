#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "support/error.hpp"

namespace edgegpu {

/// An object below a directory of the builder: a file, a directory, or a symbolic link.
struct SourceObject {
    /// relative to the directory: "etc/motd"
    std::string name;
    /// st_mode
    unsigned mode = 0;
    /// files: bytes
    std::uint64_t size = 0;
    /// symlinks: the target
    std::string target;
    /// files: capabilities are set
    bool has_capabilities = false;
    /// files, where they were asked for: a descriptor to read from, valid during the visit; else -1
    int file = -1;
};

/// How a walk's visitor and messages name what cannot be taken: name, and "is a fifo" or the like.
using SourceRefusal = std::function<Error(std::string_view name, std::string_view reason)>;

/// Visits everything below a directory, each directory before what is in it, names in bytewise
/// order. Links are never followed, also where one takes a directory's place during the walk: what
/// is opened is what was looked at. Devices, fifos and sockets are never opened. `top` itself may
/// be a link. Throws what `refuse` makes for those, for names longer than 4095 bytes, and for what
/// cannot be read or has gone.
void walk_source(const std::filesystem::path& top, bool open_files,
                 const std::function<void(const SourceObject&)>& visit,
                 const SourceRefusal& refuse);

/// "is a fifo", for an object (st_mode) that an image cannot carry.
[[nodiscard]] std::string_view unfit_kind(unsigned mode);

/// The way out for one.
[[nodiscard]] std::string unfit_kind_hint();

}  // namespace edgegpu
