#pragma once

#include <string>
#include <vector>

#include "customise/initramfs/initramfs_contents.hpp"
#include "execution/context.hpp"

namespace edgegpu {

/// What an initramfs lacks of that of the parent, each sorted. The parent's was made with arguments
/// that are in no file of it (`initramfs-args` in a treefile of rpm-ostree).
struct MissingContents {
    /// dracut's modules
    std::vector<std::string> modules;
    /// kernel modules ("hv_storvsc"), but for those that the blueprint blacklists
    std::vector<std::string> drivers;
    /// paths of other files
    std::vector<std::string> files;
};

[[nodiscard]] MissingContents missing_of(const InitramfsContents& parent,
                                         const InitramfsContents& made,
                                         const std::vector<std::string>& blacklist);

/// Arguments of dracut that add the modules and drivers; none if none is missing.
[[nodiscard]] std::vector<std::string> arguments_for(const MissingContents& missing);

/// Throws Error if modules or drivers are missing; warns of other files.
void require_nothing_missing(const Context& ctx, const MissingContents& missing);

}  // namespace edgegpu
