#pragma once

#include <filesystem>
#include <string>

#include "image/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// The extended attribute of a directory of an upper layer that shows nothing of what is below it:
/// its value is "y" (Documentation/filesystems/overlayfs.rst of Linux).
inline constexpr const char* opaque_mark = "user.overlay.opaque";

/// Copies the upper layer of an overlay with everything it means: owners, modes, whiteouts,
/// opaque directories, capabilities. `target` must not exist.
void copy_layer(const Context& ctx, const std::filesystem::path& source,
                const std::filesystem::path& target);

/// Unmounts whatever an earlier build left at `root`.
void unmount_stale(const std::filesystem::path& root);

/// A mounted overlay, unmounted when it goes. Movable.
class RootMount {
public:
    /// Mounts lower+upper at `root` (all directories are made).
    RootMount(const std::filesystem::path& lower, const std::filesystem::path& upper,
              const std::filesystem::path& work, const std::filesystem::path& root);
    RootMount(RootMount&& other) noexcept;
    RootMount& operator=(RootMount&& other) noexcept;
    ~RootMount();

private:
    std::filesystem::path root_;
};

}  // namespace edgegpu
