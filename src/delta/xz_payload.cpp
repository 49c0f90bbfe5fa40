#include "delta/xz_payload.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <lzma.h>

#include "support/error.hpp"

namespace edgegpu {

namespace {

/// What clients can decompress with 100 MiB (libostree 2026.3), and all need no more.
constexpr std::uint32_t largest_dictionary = 32U << 20U;
constexpr std::uint32_t xz_preset = 6;
constexpr std::size_t block_of_large = 64U << 20U;
constexpr unsigned most_blocks_at_a_time = 2;
/// Milliseconds between two looks at whether the user wants to stop.
constexpr std::uint32_t patience = 500;

Error no_memory(std::size_t size) {
    return error("cannot compress {} bytes of a delta: out of memory", size);
}

/// With the dictionary that a payload of this size needs.
lzma_options_lzma options_for(std::size_t size) {
    lzma_options_lzma options{};
    if (lzma_lzma_preset(&options, xz_preset) != 0) {
        throw Error("liblzma does not know its preset");
    }
    options.dict_size = static_cast<std::uint32_t>(
        std::clamp<std::size_t>(std::bit_ceil(size), 1U << 16U, largest_dictionary));
    return options;
}

std::size_t encode_at_once(const lzma_filter* filters, std::string_view payload, std::string& out) {
    std::size_t size = 1;
    if (lzma_stream_buffer_encode(const_cast<lzma_filter*>(filters), LZMA_CHECK_CRC32, nullptr,
                                  reinterpret_cast<const std::uint8_t*>(payload.data()),
                                  payload.size(), reinterpret_cast<std::uint8_t*>(out.data()),
                                  &size, out.size()) != LZMA_OK) {
        throw no_memory(payload.size());
    }
    return size;
}

struct StreamEnd {
    void operator()(lzma_stream* stream) const { lzma_end(stream); }
};

std::size_t encode_in_blocks(const Context& ctx, const lzma_filter* filters,
                             std::string_view payload, std::string& out) {
    lzma_mt settings{};
    settings.threads = std::clamp(ctx.jobs, 1U, most_blocks_at_a_time);
    settings.block_size = block_of_large;
    settings.timeout = patience;
    settings.filters = filters;
    settings.check = LZMA_CHECK_CRC32;
    lzma_stream stream = LZMA_STREAM_INIT;
    const std::unique_ptr<lzma_stream, StreamEnd> ended(&stream);
    lzma_ret result = lzma_stream_encoder_mt(&stream, &settings);
    stream.next_in = reinterpret_cast<const std::uint8_t*>(payload.data());
    stream.avail_in = payload.size();
    stream.next_out = reinterpret_cast<std::uint8_t*>(out.data()) + 1;
    stream.avail_out = out.size() - 1;
    while (result == LZMA_OK && stream.avail_out != 0) {
        ctx.check_cancelled();
        result = lzma_code(&stream, LZMA_FINISH);
    }
    if (result != LZMA_STREAM_END) {
        throw no_memory(payload.size());
    }
    return out.size() - stream.avail_out;
}

}  // namespace

std::string xz_payload(const Context& ctx, std::string_view payload) {
    lzma_options_lzma options = options_for(payload.size());
    const std::array<lzma_filter, 2> filters{lzma_filter{LZMA_FILTER_LZMA2, &options},
                                             lzma_filter{LZMA_VLI_UNKNOWN, nullptr}};
    // Each block has a header of its own, beside what the bound has for a stream.
    constexpr std::size_t header_of_block = 1024;
    std::string out(1 + lzma_stream_buffer_bound(payload.size()) +
                        (payload.size() / block_of_large + 1) * header_of_block,
                    '\0');
    out[0] = 'x';
    out.resize(payload.size() > block_of_large ? encode_in_blocks(ctx, filters.data(), payload, out)
                                               : encode_at_once(filters.data(), payload, out));
    out.shrink_to_fit();
    return out;
}

}  // namespace edgegpu
