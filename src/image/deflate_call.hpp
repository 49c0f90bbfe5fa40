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

/// The raw deflate stream of `content`. Throws Error.
[[nodiscard]] std::string deflate_whole(libdeflate_compressor* compressor,
                                        std::string_view content);

/// One piece of a raw deflate stream that is made in pieces: each ends on a byte boundary, so that
/// they make one valid stream when put one after another, the `last` of them at its end. It is
/// libdeflate's, and the same on all processors. `level` as above. Throws Error if a library fails.
[[nodiscard]] std::string libdeflate_piece(std::string_view content, int level, bool last);

/// Such a piece, by what is fastest on this processor: at level 1, and at the usual one if that
/// loses no more than 1.5 % of the stream of a sample, ISA-L makes it, in a fifth of the time, or
/// it is stored if it does not shrink; else libdeflate.
[[nodiscard]] std::string deflate_piece(std::string_view content, int level, bool last);

/// `usual_level`, or 0 (stored) for compressed data (an initramfs, firmware, a zip) of more than
/// 256 KiB: deflating it costs seconds and gains nothing. It is recognised by samples from its
/// beginning, middle and end, which `sample(offset, size)` gives.
[[nodiscard]] int level_for(
    const std::function<std::string(std::uint64_t offset, std::size_t size)>& sample,
    std::uint64_t size, int usual_level);

}  // namespace edgegpu
