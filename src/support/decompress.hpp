#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "support/error.hpp"

namespace edgegpu {

/// The content of a file that is compressed with gzip, xz, zstd or bzip2; any other content as it
/// is. Throws Error of `kind`, calling the file `name`, if it is damaged or truncated, or if it
/// decompresses to more than `limit` bytes.
[[nodiscard]] std::string decompress(std::string_view content, std::uint64_t limit,
                                     const std::string& name, ErrorKind kind = ErrorKind::failure);

}  // namespace edgegpu
