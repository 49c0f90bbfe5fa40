#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace edgegpu {

/// Writes bytes at an offset of the disk's open file, whatever interrupts it. Throws Error naming
/// `disk`, and the directory if that is full.
void write_to_disk(int file, std::string_view bytes, std::uint64_t offset,
                   const std::filesystem::path& disk);

}  // namespace edgegpu
