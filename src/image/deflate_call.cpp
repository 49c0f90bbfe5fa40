#include "image/deflate_call.hpp"

#include <memory>
#include <utility>

#include <isa-l/igzip_lib.h>
#include <zlib.h>

#include "execution/context.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

constexpr std::size_t sample_size = 64UL << 10U;

constexpr int fastest_level = 1;

/// ISA-L's best, with a buffer that makes it begin a new block more often than by default: its
/// streams of NVIDIA's libraries are 0.6 % shorter.
constexpr int level_of_isal = 3;
constexpr std::size_t buffer_of_isal = ISAL_DEF_LVL3_SMALL;
/// How much larger its streams may be than libdeflate's.
constexpr std::size_t permille_of_isal = 1015;
/// Of a content, what its stream may have at most; else it is stored.
constexpr std::size_t percent_worth_it = 98;
/// Bytes beyond the content that a stream may take: flush, and headers of stored blocks.
constexpr std::size_t stream_margin = 4096;
/// An empty stored block without its header (RFC 1951 3.2.4).
constexpr std::string_view empty_block("\x00\x00\xff\xff", 4);
constexpr unsigned byte_bits = 8;
constexpr unsigned header_bits = 3;

// At 6, the usual level, libdeflate's 5 makes shorter streams than zlib does, and takes a fifth
// less time than its own 6 (docs/performance.md).
int level_of_libdeflate(int level) {
    return level == default_deflate_level ? 5 : level;
}

/// Whether the fastest level takes 2 % off.
bool shrinks(std::string_view content) {
    std::string out(content.size() * percent_worth_it / 100, '\0');
    return libdeflate_deflate_compress(new_compressor(1).get(), content.data(), content.size(),
                                       out.data(), out.size()) != 0;
}

std::string libdeflate_stream(std::string_view content, int level) {
    return deflate_whole(new_compressor(level).get(), content);
}

/// Where the last block of a complete stream begins and ends, in bits. zlib's inflate stops at
/// each block; what it makes of them is compared with the content on the way.
std::pair<std::size_t, std::size_t> last_block(const std::string& deflated,
                                               std::string_view content) {
    z_stream stream{};
    if (::inflateInit2(&stream, -MAX_WBITS) != Z_OK) {
        throw Error("zlib: out of memory");
    }
    const std::unique_ptr<z_stream, int (*)(z_streamp)> end(&stream, &::inflateEnd);
    std::string inflated(content.size() + 1, '\0');
    // zlib's interface is not const-correct; it does not write to its input.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(deflated.data()));
    stream.avail_in = static_cast<uInt>(deflated.size());
    stream.next_out = reinterpret_cast<Bytef*>(inflated.data());
    stream.avail_out = static_cast<uInt>(inflated.size());
    // Of data_type: the bits that are left of the last byte, and whether it stands at the end of a
    // block, of the last one.
    constexpr int unused_bits = 7;
    constexpr int in_last = 64;
    constexpr int at_end = 128;
    std::size_t begin = 0;
    while (::inflate(&stream, Z_BLOCK) == Z_OK) {
        const std::size_t place =
            stream.total_in * byte_bits - static_cast<unsigned>(stream.data_type & unused_bits);
        if ((stream.data_type & at_end) != 0 && (stream.data_type & in_last) != 0) {
            if (stream.total_out != content.size() ||
                std::string_view(inflated).substr(0, content.size()) != content) {
                break;
            }
            return {begin, place};
        }
        begin = place;
    }
    throw Error("libdeflate: the stream is not that of the content");
}

/// Slices from all over the content, which is rarely the same everywhere.
std::string sample_of(std::string_view content) {
    constexpr std::size_t slices = 4;
    if (content.size() < 2 * sample_size) {
        return std::string(content.substr(0, sample_size));
    }
    std::string sample;
    for (std::size_t slice = 0; slice < slices; ++slice) {
        sample += content.substr(slice * (content.size() / slices), sample_size / slices);
    }
    return sample;
}

std::string isal_piece(std::string_view content, bool last) {
    const auto stream = std::make_unique<isal_zstream>();
    isal_deflate_init(stream.get());
    std::string buffer(buffer_of_isal, '\0');
    std::string out(content.size() + content.size() / 8 + stream_margin, '\0');
    stream->level = level_of_isal;
    stream->level_buf = reinterpret_cast<std::uint8_t*>(buffer.data());
    stream->level_buf_size = buffer_of_isal;
    stream->flush = last ? NO_FLUSH : SYNC_FLUSH;
    stream->end_of_stream = last ? 1 : 0;
    // Its interface is not const-correct; it does not write to its input.
    stream->next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(content.data()));
    stream->avail_in = static_cast<std::uint32_t>(content.size());
    stream->next_out = reinterpret_cast<std::uint8_t*>(out.data());
    stream->avail_out = static_cast<std::uint32_t>(out.size());
    if (isal_deflate(stream.get()) != COMP_OK || stream->avail_in != 0 || stream->avail_out == 0) {
        throw Error("ISA-L: deflate failed");
    }
    out.resize(stream->total_out);
    return out;
}

}  // namespace

CompressorHandle new_compressor(int level) {
    CompressorHandle compressor(libdeflate_alloc_compressor(level_of_libdeflate(level)));
    if (!compressor) {
        throw Error("libdeflate: out of memory");
    }
    return compressor;
}

std::string deflate_whole(libdeflate_compressor* compressor, std::string_view content) {
    std::string out(libdeflate_deflate_compress_bound(compressor, content.size()), '\0');
    const std::size_t size = libdeflate_deflate_compress(compressor, content.data(), content.size(),
                                                         out.data(), out.size());
    if (size == 0) {
        throw Error("libdeflate: deflate failed");
    }
    out.resize(size);
    return out;
}

/// libdeflate ends its streams: the last block becomes one that is not the last, and an empty
/// stored block after it leads to the next byte.
std::string libdeflate_piece(std::string_view content, int level, bool last) {
    std::string stream = libdeflate_stream(content, level);
    const auto [begin, end] = last_block(stream, content);
    if (last) {
        return stream;
    }
    stream[begin / byte_bits] = static_cast<char>(
        static_cast<unsigned char>(stream[begin / byte_bits]) & ~(1U << (begin % byte_bits)));
    stream.resize((end + header_bits + byte_bits - 1) / byte_bits);
    return stream.append(empty_block);
}

std::string deflate_piece(std::string_view content, int level, bool last) {
    if (level != fastest_level && level != default_deflate_level) {
        return libdeflate_piece(content, level, last);
    }
    if (level == default_deflate_level) {
        const std::string sample = sample_of(content);
        if (isal_piece(sample, true).size() * 1000 >
            libdeflate_stream(sample, level).size() * permille_of_isal) {
            return libdeflate_piece(content, level, last);
        }
    }
    std::string stream = isal_piece(content, last);
    return stream.size() * 100 > content.size() * percent_worth_it
               ? libdeflate_piece(content, 0, last)
               : stream;
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
