#pragma once

#include <cstddef>
#include <string>

namespace edgegpu::gpu_health {

/// The largest kernel module that is read, packed or not.
inline constexpr std::size_t largest_module = std::size_t{512} << 20U;

/// Unpacks what xz, gzip or zstd packed, by its first bytes; other content is returned as it is.
/// Throws std::runtime_error if it is damaged, not whole, or larger than `limit` when unpacked.
[[nodiscard]] std::string unpack(std::string content, std::size_t limit = largest_module);

}  // namespace edgegpu::gpu_health
