#include "customise/initramfs/initramfs_contents.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include "support/error.hpp"
#include "support/handles.hpp"

namespace edgegpu {

namespace {

constexpr std::size_t header_size = 110;
constexpr std::size_t max_path = 4096;
constexpr std::size_t max_paths = 1'000'000;
constexpr std::int64_t unpacked_limit = 4LL << 30;

std::string absolute(std::string_view path) {
    while (path.starts_with("./")) {
        path.remove_prefix(2);
    }
    while (path.starts_with('/')) {
        path.remove_prefix(1);
    }
    return fmt::format("/{}", path);
}

void add_path(std::string_view path, std::set<std::string>& paths) {
    if (path.size() > max_path || paths.size() == max_paths) {
        throw error("it has more than {} paths, or one of more than {} bytes", max_paths, max_path);
    }
    paths.insert(absolute(path));
}

/// Field `index` (of 13) of a newc header: 8 hexadecimal digits after the magic.
std::size_t header_field(std::string_view header, std::size_t index) {
    const std::string_view digits = header.substr(6 + 8 * index, 8);
    std::uint32_t value = 0;
    const auto [end, code] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (code != std::errc() || end != digits.data() + digits.size()) {
        throw error("malformed cpio header");
    }
    return value;
}

std::size_t aligned(std::size_t offset) {
    return (offset + 3) & ~std::size_t{3};
}

/// Adds the paths of the uncompressed cpio archive that `data` begins with; returns what follows it
/// and its padding.
std::string_view list_plain(std::string_view data, std::set<std::string>& paths) {
    std::size_t at = 0;
    while (true) {
        const std::string_view header = data.substr(std::min(at, data.size()), header_size);
        if (header.size() < header_size || !header.starts_with("07070")) {
            throw error("cut short inside a cpio archive");
        }
        const std::size_t size = header_field(header, 6);
        const std::size_t name_size = header_field(header, 11);
        if (name_size == 0 || name_size > 4096 || name_size > data.size() - at - header_size) {
            throw error("malformed cpio header");
        }
        const std::string_view name = data.substr(at + header_size, name_size - 1);
        at = aligned(aligned(at + header_size + name_size) + size);
        if (name == "TRAILER!!!") {
            break;
        }
        add_path(name, paths);
    }
    data.remove_prefix(std::min(at, data.size()));
    const std::size_t next = data.find_first_not_of('\0');
    return next == std::string_view::npos ? std::string_view{} : data.substr(next);
}

/// libarchive's filter (ARCHIVE_FILTER_*) for data that begins like this: one of dracut's
/// compressors. Only one is enabled, because several in a chain could unpack to any size.
int filter_of(std::string_view data) {
    using namespace std::string_view_literals;
    static constexpr std::array<std::pair<std::string_view, int>, 6> known{
        {{"\x1f\x8b"sv, ARCHIVE_FILTER_GZIP},
         {"\x28\xb5\x2f\xfd"sv, ARCHIVE_FILTER_ZSTD},
         {"\xfd"
          "7zXZ"sv,
          ARCHIVE_FILTER_XZ},
         {"BZh"sv, ARCHIVE_FILTER_BZIP2},
         {"\x04\x22\x4d\x18"sv, ARCHIVE_FILTER_LZ4},
         {"\x02\x21\x4c\x18"sv, ARCHIVE_FILTER_LZ4}}};
    const auto found = std::find_if(known.begin(), known.end(), [&](const auto& filter) {
        return data.starts_with(filter.first);
    });
    if (found == known.end()) {
        throw error("neither a cpio archive nor compressed with gzip, zstd, xz, bzip2 or lz4");
    }
    return found->second;
}

void list_compressed(std::string_view data, std::set<std::string>& paths) {
    const Handle<archive, archive_read_free> reader(archive_read_new());
    int code = archive_read_append_filter(reader.get(), filter_of(data));
    archive_read_support_format_cpio(reader.get());
    if (code == ARCHIVE_OK) {
        code = archive_read_open_memory(reader.get(), data.data(), data.size());
    }
    archive_entry* entry = nullptr;
    while (code == ARCHIVE_OK || code == ARCHIVE_WARN) {
        code = archive_read_next_header(reader.get(), &entry);
        if (code == ARCHIVE_OK || code == ARCHIVE_WARN) {
            const char* name = archive_entry_pathname(entry);
            add_path(name != nullptr ? name : "", paths);
            // Content is unpacked even when it is skipped.
            const std::int64_t done = archive_filter_bytes(reader.get(), 0);
            const std::int64_t size = archive_entry_size(entry);
            if (size < 0 || size > unpacked_limit - std::min(done, unpacked_limit)) {
                throw error("it unpacks to more than {} GiB", unpacked_limit >> 30);
            }
        }
    }
    if (code != ARCHIVE_EOF) {
        const char* text = archive_error_string(reader.get());
        throw error("{}", text != nullptr ? text : "unreadable");
    }
}

}  // namespace

std::vector<std::string> list_initramfs(std::string_view image, const std::string& name) {
    std::set<std::string> paths;
    try {
        std::string_view rest = image;
        while (rest.starts_with("070701")) {
            rest = list_plain(rest, paths);
        }
        if (!rest.empty()) {
            list_compressed(rest, paths);
        }
    } catch (const Error& cause) {
        throw error("{}: not a readable initramfs: {}", name, cause.message());
    }
    return {paths.begin(), paths.end()};
}

}  // namespace edgegpu
