#include "gpu_health/observe/unpack.hpp"

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

namespace edgegpu::gpu_health {

namespace {

/// Gets unpacked bytes piece by piece.
class Collector {
public:
    explicit Collector(std::size_t limit) : limit_(limit) {}
    [[nodiscard]] char* data() noexcept { return buffer_.data(); }
    [[nodiscard]] std::size_t size() const noexcept { return buffer_.size(); }
    void take(std::size_t count) {
        if (count > limit_ - result_.size()) {
            throw std::runtime_error("it is too large when unpacked");
        }
        result_.append(buffer_, 0, count);
    }
    [[nodiscard]] std::string result() && { return std::move(result_); }

private:
    std::size_t limit_;
    std::string buffer_ = std::string(std::size_t{1} << 18U, '\0');
    std::string result_;
};

[[noreturn]] void damaged() {
    throw std::runtime_error("it cannot be unpacked: it is damaged or not whole");
}

std::string unpack_xz(const std::string& content, std::size_t limit) {
    // xz -9 needs 65 MiB; more is no module's.
    constexpr std::uint64_t memory = std::uint64_t{256} << 20U;
    lzma_stream stream = LZMA_STREAM_INIT;
    const std::unique_ptr<lzma_stream, void (*)(lzma_stream*)> end(&stream, lzma_end);
    if (lzma_stream_decoder(&stream, memory, LZMA_CONCATENATED) != LZMA_OK) {
        damaged();
    }
    stream.next_in = reinterpret_cast<const std::uint8_t*>(content.data());
    stream.avail_in = content.size();
    Collector collector(limit);
    lzma_ret state = LZMA_OK;
    while (state == LZMA_OK) {
        stream.next_out = reinterpret_cast<std::uint8_t*>(collector.data());
        stream.avail_out = collector.size();
        state = lzma_code(&stream, LZMA_FINISH);
        collector.take(collector.size() - stream.avail_out);
    }
    if (state != LZMA_STREAM_END) {
        damaged();
    }
    return std::move(collector).result();
}

std::string unpack_gzip(std::string& content, std::size_t limit) {
    constexpr int gzip_window = 15 + 16;
    z_stream stream{};
    if (inflateInit2(&stream, gzip_window) != Z_OK) {
        damaged();
    }
    const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);
    stream.next_in = reinterpret_cast<Bytef*>(content.data());
    // No larger than largest_module, which has room in 32 bits.
    stream.avail_in = static_cast<uInt>(content.size());
    Collector collector(limit);
    int state = Z_OK;
    while (state == Z_OK) {
        stream.next_out = reinterpret_cast<Bytef*>(collector.data());
        stream.avail_out = static_cast<uInt>(collector.size());
        state = inflate(&stream, Z_NO_FLUSH);
        collector.take(collector.size() - stream.avail_out);
    }
    if (state != Z_STREAM_END) {
        damaged();
    }
    return std::move(collector).result();
}

std::string unpack_zstd(const std::string& content, std::size_t limit) {
    const std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(),
                                                                               ZSTD_freeDStream);
    if (!stream) {
        damaged();
    }
    ZSTD_inBuffer in{content.data(), content.size(), 0};
    Collector collector(limit);
    std::size_t state = 1;
    bool full = false;
    // What is left in the decoder comes out without input.
    while (in.pos < in.size || full) {
        ZSTD_outBuffer out{collector.data(), collector.size(), 0};
        state = ZSTD_decompressStream(stream.get(), &out, &in);
        if (ZSTD_isError(state) != 0) {
            damaged();
        }
        collector.take(out.pos);
        full = out.pos == out.size;
    }
    if (state != 0) {
        damaged();
    }
    return std::move(collector).result();
}

}  // namespace

std::string unpack(std::string content, std::size_t limit) {
    using namespace std::string_view_literals;
    if (content.size() > largest_module) {
        throw std::runtime_error("it is too large");
    }
    if (content.starts_with("\xfd"
                            "7zXZ\0"sv)) {
        return unpack_xz(content, limit);
    }
    if (content.starts_with("\x1f\x8b"sv)) {
        return unpack_gzip(content, limit);
    }
    if (content.starts_with("\x28\xb5\x2f\xfd"sv)) {
        return unpack_zstd(content, limit);
    }
    return content;
}

}  // namespace edgegpu::gpu_health
