#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "execution/context.hpp"
#include "rootfs/import.hpp"

namespace edgegpu {

/// What a package's header says of the size of its payload, in bytes.
struct DeclaredSize {
    /// regular files, hard links once
    std::uint64_t files = 0;
    /// the uncompressed archive, at most
    std::uint64_t archive = 0;
};

/// The sum of `files`, which are in the order of `header`'s list.
[[nodiscard]] DeclaredSize declared_size(const std::vector<ImportedFile>& files, rpmfiles list);

/// Throws Error naming the package if the files are too large for a package of `rpm_size` bytes
/// (most_in_package), if `header` says of the archive that it is larger than all files together, or
/// if the cache has no space for the files (require_space).
void check_declared_size(const Context& ctx, const std::string& package, const DeclaredSize& size,
                         Header header, std::uint64_t rpm_size);

/// Throws Error naming the package if more has been read from the decompressed `payload` than the
/// header says. What the files themselves have is compared with the header besides; this is about
/// everything between them.
void check_archive_size(const std::string& package, const DeclaredSize& size, FD_t payload);

}  // namespace edgegpu
