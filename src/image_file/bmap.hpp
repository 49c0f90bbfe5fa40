#pragma once

#include <filesystem>
#include <string>

#include "disk/disk.hpp"
#include "execution/context.hpp"

namespace edgegpu {

/// The block map of a raw image, by which bmaptool(1) writes to a disk only what is in use (format
/// 2.0 of bmaptool: ranges of blocks of 4 KiB, each with its SHA-256). `raw` is what write_disk
/// wrote, `disk` what it returned. The same image has the same text. Throws Error,
/// ErrorKind::interrupted.
[[nodiscard]] std::string block_map(const Context& ctx, const std::filesystem::path& raw,
                                    const Disk& disk);

}  // namespace edgegpu
