#include "customise/initramfs_contents.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <set>
#include <string_view>

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include "support/error.hpp"
#include "support/file.hpp"
#include "support/handles.hpp"

namespace edgegpu {

namespace {

constexpr std::size_t header_size = 110;

std::string absolute(std::string_view path) {
    while (path.starts_with("./")) {
        path.remove_prefix(2);
    }
    while (path.starts_with('/')) {
        path.remove_prefix(1);
    }
    return fmt::format("/{}", path);
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

/// Reads one plain cpio archive that begins at `data`; returns what follows it.
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
        paths.insert(absolute(name));
    }
    data.remove_prefix(std::min(at, data.size()));
    const std::size_t next = data.find_first_not_of('\0');
    return next == std::string_view::npos ? std::string_view{} : data.substr(next);
}

void list_compressed(std::string_view data, std::set<std::string>& paths) {
    const Handle<archive, archive_read_free> reader(archive_read_new());
    archive_read_support_filter_all(reader.get());
    archive_read_support_format_cpio(reader.get());
    int code = archive_read_open_memory(reader.get(), data.data(), data.size());
    archive_entry* entry = nullptr;
    while (code == ARCHIVE_OK || code == ARCHIVE_WARN) {
        code = archive_read_next_header(reader.get(), &entry);
        if (code == ARCHIVE_OK || code == ARCHIVE_WARN) {
            const char* name = archive_entry_pathname(entry);
            paths.insert(absolute(name != nullptr ? name : ""));
        }
    }
    if (code != ARCHIVE_EOF) {
        const char* text = archive_error_string(reader.get());
        throw error("{}", text != nullptr ? text : "unreadable");
    }
}

}  // namespace

std::vector<std::string> list_initramfs(const std::filesystem::path& image) {
    const std::string content = read_file(image);
    std::set<std::string> paths;
    try {
        std::string_view rest = content;
        while (rest.starts_with("070701")) {
            rest = list_plain(rest, paths);
        }
        if (!rest.empty()) {
            list_compressed(rest, paths);
        }
    } catch (const Error& cause) {
        throw error("{}: not a readable initramfs: {}", image.string(), cause.message());
    }
    return {paths.begin(), paths.end()};
}

}  // namespace edgegpu
