#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <libdeflate.h>

#include "support/handles.hpp"

namespace edgegpu {

using CompressorHandle = Handle<libdeflate_compressor, libdeflate_free_compressor>;

/// libdeflate's compressor for `level` of zlib (0 to 9), or above that of libdeflate (to 12).
/// Throws Error without memory.
[[nodiscard]] CompressorHandle new_compressor(int level);

/// One piece of a chunked raw deflate stream, by zlib: a sync flush ends it on a byte boundary, so
/// that pieces deflated apart make one valid stream when put one after another, the `last` of them
/// at the end. `level` as above; above 9 it is 9.
[[nodiscard]] std::string deflate_piece(std::string_view content, int level, bool last);

/// `usual_level`, or 0 (stored) for compressed data (an initramfs, firmware, a zip) of more than
/// 256 KiB: deflating it costs seconds and gains nothing. It is recognised by samples from its
/// beginning, middle and end, which `sample(offset, size)` gives.
[[nodiscard]] int level_for(
    const std::function<std::string(std::uint64_t offset, std::size_t size)>& sample,
    std::uint64_t size, int usual_level);

}  // namespace edgegpu
