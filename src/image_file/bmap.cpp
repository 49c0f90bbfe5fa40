#include "image_file/bmap.hpp"

#include <cerrno>

#include <fmt/format.h>

#include "disk/used_ranges.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file_content.hpp"
#include "support/handles.hpp"
#include "support/ranges.hpp"

namespace edgegpu {

namespace {

constexpr std::uint64_t bmap_block = 4096;
constexpr std::size_t sha256_digits = 64;

class RangeReader {
public:
    RangeReader(const Context& ctx, const std::filesystem::path& path)
        : ctx_(ctx), path_(path), file_(open_to_read(path)) {}
    std::string digest(const ByteRange& range) {
        Sha256 digest;
        const auto take = [&](std::string_view piece) {
            ctx_.check_cancelled();
            digest.update(piece);
        };
        if (each_piece(file_.get(), path_.string(), take, {range.offset, range.size}) !=
            range.size) {
            throw errno_error(path_.string(), EIO);
        }
        return digest.hex();
    }

private:
    const Context& ctx_;
    const std::filesystem::path& path_;
    Fd file_;
};

std::string block_numbers(const ByteRange& range) {
    const std::uint64_t first = range.offset / bmap_block;
    const std::uint64_t last = first + range.size / bmap_block - 1;
    return first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
}

}  // namespace

std::string block_map(const Context& ctx, const std::filesystem::path& raw, const Disk& disk) {
    const std::vector<ByteRange> ranges = used_ranges(raw, disk);
    const std::uint64_t mapped =
        sum_of(ranges, [&](const ByteRange& range) { return range.size / bmap_block; });
    RangeReader reader(ctx, raw);
    std::string rows;
    std::uint64_t done = 0;
    for (const ByteRange& range : ranges) {
        rows += fmt::format("        <Range chksum=\"{}\"> {} </Range>\n", reader.digest(range),
                            block_numbers(range));
        done += range.size / bmap_block;
        if (ctx.console != nullptr) {
            ctx.console->progress(done, mapped, "blocks");
        }
    }
    // The digest of the file is that with zeros in its place.
    const std::string zeros(sha256_digits, '0');
    std::string text = fmt::format(
        "<?xml version=\"1.0\" ?>\n"
        "<!-- Blocks of a disk image that are in use: bmaptool copy writes only these. -->\n"
        "<bmap version=\"2.0\">\n"
        "    <ImageSize> {} </ImageSize>\n"
        "    <BlockSize> {} </BlockSize>\n"
        "    <BlocksCount> {} </BlocksCount>\n"
        "    <MappedBlocksCount> {} </MappedBlocksCount>\n"
        "    <ChecksumType> sha256 </ChecksumType>\n"
        "    <BmapFileChecksum> {} </BmapFileChecksum>\n"
        "    <BlockMap>\n{}    </BlockMap>\n"
        "</bmap>\n",
        disk.size, bmap_block, disk.size / bmap_block, mapped, zeros, rows);
    text.replace(text.find(zeros), zeros.size(), sha256_hex(text));
    return text;
}

}  // namespace edgegpu
