#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "image/image_root.hpp"
#include "support/handles.hpp"

namespace edgegpu {

/// A program of an image that a shim replaces.
struct CoveredProgram {
    /// name under which the shim is called, "semodule"
    std::string name;
    /// path in the image, without links
    std::string path;
};

/// Mounts the shim over programs of an image in the build's own mount namespace, and copies these
/// programs to a directory of the builder. A sandbox gets the former with the image's root and the
/// latter with one bind mount. bubblewrap reads the whole mount table for each of its binds: a bind
/// of its own for each program took longer than most scriptlets, and so did the longer table with a
/// mount for each original. Unmounts everything when it is destroyed.
class ShimMounts {
public:
    /// Creates the directory `originals`; mounts nothing yet. `shim` is the file to mount.
    ShimMounts(std::filesystem::path shim, std::filesystem::path originals,
               const std::vector<CoveredProgram>& programs);
    ShimMounts(const ShimMounts&) = delete;
    ShimMounts& operator=(const ShimMounts&) = delete;
    ~ShimMounts();

    /// The directory that has the covered programs as NAME.
    [[nodiscard]] const std::filesystem::path& originals() const { return originals_; }

    /// Covers every program that is a file (links followed) and is not covered yet. To be called
    /// before each program that runs: the one before may have replaced a file, or moved a directory
    /// on the way to it. Throws Error.
    void cover(const ImageRoot& root);
    /// Removes all mounts: paths of the image lead to its own files again.
    void uncover() noexcept;

private:
    struct Cover {
        CoveredProgram program;
        /// the mount, by descriptor, as programs may have moved its mount point; empty if none
        Fd shim;
    };

    /// Whether the program is covered, or does not exist and needs no cover.
    [[nodiscard]] bool stands(const ImageRoot& root, const Cover& cover) const;
    /// Copies a program to `originals`/NAME.
    void copy(const Fd& program, const std::string& name) const;

    std::filesystem::path shim_;
    std::filesystem::path originals_;
    std::vector<Cover> covers_;
};

}  // namespace edgegpu
