#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <libdeflate.h>

#include "image/tree.hpp"
#include "support/context.hpp"
#include "support/handles.hpp"

namespace edgegpu {

/// Contents below this many bytes are deflated when their object is written: that is cheaper
/// than a file of their own in the cache.
inline constexpr std::uint64_t smallest_cached_stream = 8192;

/// Raw deflate streams (no zlib wrapper, RFC 1951) of file contents, kept in
/// `CACHE/deflate/aa/<sha256 of the content>`, with "-LEVEL" behind it where Context::deflate_level
/// is not the default: the stream, then 16 bytes: CRC-32 of the stream,
/// a magic number, size of the content (all little-endian). A stream whose CRC does not match
/// (torn by a power cut) is made again. All members may be called from any thread.
class DeflateStreams {
public:
    explicit DeflateStreams(const Context& ctx);

    using Sink = std::function<void(std::string_view)>;

    /// Whether the cache has a stream for this content; its CRC is not looked at.
    [[nodiscard]] bool has(const Entry& entry) const;
    /// Makes the streams of these entries (files of different content), the largest first.
    void make(std::vector<const Entry*> entries);
    /// Gives the stream of a file's content to `sink` in pieces and returns true; false if the
    /// cached stream turned out to be damaged after pieces were given (it is then deleted: start
    /// again). Small contents are deflated here; others are made if absent.
    [[nodiscard]] bool read(const Entry& entry, const Sink& sink);

private:
    using Compressor = Handle<libdeflate_compressor, libdeflate_free_compressor>;

    [[nodiscard]] std::filesystem::path path_of(const Entry& entry) const;
    [[nodiscard]] Compressor take_compressor(int level);
    void give_back(Compressor compressor, int level);
    [[nodiscard]] std::string deflate(const Entry& entry, std::string_view content);
    void make_one(const Entry& entry);
    void make_large(const Entry& entry);

    const Context& ctx_;
    std::filesystem::path directory_;
    int level_;
    std::mutex mutex_;
    std::vector<Compressor> idle_;
};

/// Makes sure the raw deflate stream of each given file entry exists in the cache (`deflate/`), in
/// parallel, skipping those that do. Called early for package content so that the commit only
/// assembles. Contents below 8 KiB are left to the commit: deflating them is cheaper than a file.
void deflate_contents(const Context& ctx, const Entries& entries);

}  // namespace edgegpu
