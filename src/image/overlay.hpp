#pragma once

#include <filesystem>
#include <string>

#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// The extended attribute of an opaque directory of an upper layer, which hides the directory in
/// the lower layer: its value is "y" (Documentation/filesystems/overlayfs.rst of Linux).
inline constexpr const char* opaque_mark = "user.overlay.opaque";

/// Copies the upper layer of an overlay with owners, modes, capabilities, whiteouts and opaque
/// directories. `target` must not exist.
void copy_layer(const Context& ctx, const std::filesystem::path& source,
                const std::filesystem::path& target);

/// Creates an overlay's upper layer, whose directory is the image's root directory: root:root with
/// `mode`. Throws Error naming the path.
void make_upper(const std::filesystem::path& upper, unsigned mode);

/// Unmounts whatever an earlier build left at `root`.
void unmount_stale(const std::filesystem::path& root);

/// A mounted overlay, unmounted on destruction. Movable.
class RootMount {
public:
    /// Mounts `lower` and `upper` at `root`; creates all four directories. Throws Error if the file
    /// system or the kernel does not support it, or a path contains ',', ':' or '\\'.
    RootMount(const std::filesystem::path& lower, const std::filesystem::path& upper,
              const std::filesystem::path& work, const std::filesystem::path& root);
    RootMount(RootMount&& other) noexcept;
    RootMount& operator=(RootMount&& other) noexcept;
    ~RootMount();

private:
    std::filesystem::path root_;
};

}  // namespace edgegpu
