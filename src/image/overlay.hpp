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
    /// system or the kernel does not support it. Programs of the image can read the options of the
    /// mount: they have the names of the directories from their common parent on, which must not
    /// contain ',', ':' or '\\'.
    RootMount(const std::filesystem::path& lower, const std::filesystem::path& upper,
              const std::filesystem::path& work, const std::filesystem::path& root);
    RootMount(RootMount&& other) noexcept;
    RootMount& operator=(RootMount&& other) noexcept;
    ~RootMount();

private:
    std::filesystem::path root_;
};

/// A directory of a build, as a file system of its own while the object exists. A bind mount tells
/// programs that can see it where in its file system it begins: of a plain directory of the cache
/// that is the path of the cache, which differs from machine to machine. What is in it is lost with
/// the object.
class VisibleFiles {
public:
    /// In ctx.work(). Throws Error as RootMount does.
    explicit VisibleFiles(const Context& ctx);
    VisibleFiles(const VisibleFiles&) = delete;
    VisibleFiles& operator=(const VisibleFiles&) = delete;
    ~VisibleFiles();

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
};

}  // namespace edgegpu
