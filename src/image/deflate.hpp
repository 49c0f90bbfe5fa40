#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "execution/context.hpp"
#include "image/deflate_call.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Contents below this many bytes are deflated when their object is written, which is cheaper than
/// a file in the cache.
inline constexpr std::uint64_t smallest_cached_stream = 8192;

/// Raw deflate streams (RFC 1951, no zlib wrapper) of file contents, cached in
/// `CACHE/deflate/aa/<sha256 of the content>`, with "-LEVEL" appended if Context::deflate_level is
/// not the default. A file has the stream and 16 bytes: CRC-32 of the stream (4), a magic number
/// (4), size of the content (8), all little-endian. A stream whose CRC does not match (damaged by a
/// power failure) is made again. All members are thread-safe. Errors: Error, also for a content
/// that does not match the digest in its entry.
class DeflateStreams {
public:
    explicit DeflateStreams(const Context& ctx);

    /// Receives the pieces of a stream, in order.
    using Sink = std::function<void(std::string_view)>;

    /// Whether the cache has a stream for this content, without checking its CRC. Records its use.
    [[nodiscard]] bool has(const Entry& entry) const;
    /// Makes the streams of these entries (files of different content), the largest first.
    void make(std::vector<const Entry*> entries);
    /// Passes the stream of a file's content to `sink` in pieces. Small contents are deflated here;
    /// the stream of others is made if it does not exist. Returns false if the cached stream turned
    /// out to be damaged after pieces were passed; it is then deleted, and the caller starts again.
    [[nodiscard]] bool read(const Entry& entry, const Sink& sink);

private:
    [[nodiscard]] std::filesystem::path path_of(const Entry& entry) const;
    [[nodiscard]] CompressorHandle take_compressor(int level);
    void give_back(CompressorHandle compressor, int level);
    [[nodiscard]] std::string deflate(const Entry& entry, std::string_view content);
    void make_one(const Entry& entry);
    void make_large(const Entry& entry);

    const Context& ctx_;
    std::filesystem::path directory_;
    int level_;
    std::mutex mutex_;
    std::vector<CompressorHandle> idle_;
};

/// Makes the missing deflate streams of all files in `entries` of at least `smallest_cached_stream`
/// bytes, in parallel, so that the commit only has to assemble objects.
void deflate_contents(const Context& ctx, const Entries& entries);

}  // namespace edgegpu
