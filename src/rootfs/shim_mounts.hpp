#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "image/image_root.hpp"
#include "support/handles.hpp"

namespace edgegpu {

/// A program of an image that a shim stands over.
struct CoveredProgram {
    /// what the shim is called as, "semodule"
    std::string name;
    /// where the image has it
    std::string path;
};

/// Mounts in the build's own mount namespace: a shim over programs of an image, and these programs
/// themselves in a directory of the builder. A sandbox gets the former with the image's root and
/// the latter with one bind; bubblewrap reads the whole mount table for each bind that it makes,
/// which for two dozen programs took longer than most scriptlets. The mounts go with this object.
class ShimMounts {
public:
    /// Mounts nothing yet. `originals` is made.
    ShimMounts(std::filesystem::path shim, std::filesystem::path originals,
               const std::vector<CoveredProgram>& programs);
    ShimMounts(const ShimMounts&) = delete;
    ShimMounts& operator=(const ShimMounts&) = delete;
    ~ShimMounts();

    /// Where the programs are while they are covered: `originals`/NAME.
    [[nodiscard]] const std::filesystem::path& originals() const { return originals_; }

    /// Covers every program that is a file (links followed) and is not covered yet. To be called
    /// before each program that runs: others may have replaced what lies at a path, or moved a
    /// directory on the way to it. Throws Error.
    void cover(const ImageRoot& root);
    /// Removes all mounts: from then on paths of the image lead to its own files.
    void uncover() noexcept;

private:
    struct Cover {
        CoveredProgram program;
        /// the mounts, which are found by these wherever the image's paths lead; empty: none
        Fd shim;
        Fd original;
    };

    /// Whether nothing is to be done for it.
    [[nodiscard]] bool stands(const ImageRoot& root, const Cover& cover) const;
    /// Mounts a program below `originals`; gives the mount.
    [[nodiscard]] Fd show(const Fd& program, const std::string& name) const;

    std::filesystem::path shim_;
    std::filesystem::path originals_;
    std::vector<Cover> covers_;
};

}  // namespace edgegpu
