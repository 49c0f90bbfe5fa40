#pragma once

#include <filesystem>

#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Makes the directory `lower` contain exactly `entries`: files of packages are hard links to their
/// content (copies if the file system allows no more links), others are copies, with the time of
/// unpacked files. Entries of an earlier build
/// are kept if they are the same: the file `index` lists them. It is removed while the directory is
/// changed, so that after a killed build the directory is filled from scratch.
void check_out(const Context& ctx, const Entries& entries, const std::filesystem::path& lower,
               const std::filesystem::path& index);

}  // namespace edgegpu
