#include "image/deflate_call.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include <zlib.h>

#include "execution/context.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

constexpr std::size_t sample_size = 64UL << 10U;

// zlib's best is libdeflate's 9; above it there is only libdeflate's.
constexpr int best_of_zlib = 9;

// At 6, the usual level, libdeflate's 5 makes shorter streams than zlib does, and takes a fifth
// less time than its own 6 (docs/performance.md).
int level_of_libdeflate(int level) {
    return level == default_deflate_level ? 5 : level;
}

// Whether the fastest level takes 2 % off.
bool shrinks(std::string_view content) {
    std::string out(content.size() * 98 / 100, '\0');
    return libdeflate_deflate_compress(new_compressor(1).get(), content.data(), content.size(),
                                       out.data(), out.size()) != 0;
}

}  // namespace

CompressorHandle new_compressor(int level) {
    CompressorHandle compressor(libdeflate_alloc_compressor(level_of_libdeflate(level)));
    if (!compressor) {
        throw Error("libdeflate: out of memory");
    }
    return compressor;
}

std::string deflate_piece(std::string_view content, int level, bool last) {
    z_stream stream{};
    if (::deflateInit2(&stream, std::min(level, best_of_zlib), Z_DEFLATED, -MAX_WBITS, 9,
                       Z_DEFAULT_STRATEGY) != Z_OK) {
        throw Error("zlib: out of memory");
    }
    const std::unique_ptr<z_stream, int (*)(z_streamp)> end(&stream, &::deflateEnd);
    std::string out(::deflateBound(&stream, content.size()) + 64, '\0');
    // zlib's interface is not const-correct; it does not write to its input.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
    stream.avail_in = static_cast<uInt>(content.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    const int result = ::deflate(&stream, last ? Z_FINISH : Z_SYNC_FLUSH);
    if (result != (last ? Z_STREAM_END : Z_OK) || stream.avail_in != 0) {
        throw error("zlib: deflate failed ({})", result);
    }
    out.resize(stream.total_out);
    return out;
}

int level_for(const std::function<std::string(std::uint64_t, std::size_t)>& sample,
              std::uint64_t size, int usual_level) {
    if (size < 4 * sample_size) {
        return usual_level;
    }
    for (const std::uint64_t offset : {std::uint64_t{0}, size / 2, size - sample_size}) {
        if (shrinks(sample(offset, sample_size))) {
            return usual_level;
        }
    }
    return 0;
}

}  // namespace edgegpu
