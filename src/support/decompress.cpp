#include "support/decompress.hpp"

#include <cstddef>

#include <archive.h>

#include "support/handles.hpp"

namespace edgegpu {

std::string decompress(std::string_view content, std::uint64_t limit, const std::string& name,
                       ErrorKind kind) {
    if (content.empty()) {
        return {};  // For libarchive that is the end of the archive.
    }
    const Handle<archive, archive_read_free> reader(archive_read_new());
    const auto failed = [&] {
        const char* text = reader ? archive_error_string(reader.get()) : "out of memory";
        return error(kind, "{}: cannot be decompressed: {}", name,
                     text != nullptr ? text : "damaged");
    };
    archive_entry* entry = nullptr;
    if (!reader || archive_read_support_filter_gzip(reader.get()) != ARCHIVE_OK ||
        archive_read_support_filter_xz(reader.get()) != ARCHIVE_OK ||
        archive_read_support_filter_zstd(reader.get()) != ARCHIVE_OK ||
        archive_read_support_filter_bzip2(reader.get()) != ARCHIVE_OK ||
        archive_read_support_format_raw(reader.get()) != ARCHIVE_OK ||
        archive_read_support_format_empty(reader.get()) != ARCHIVE_OK ||
        archive_read_open_memory(reader.get(), content.data(), content.size()) != ARCHIVE_OK) {
        throw failed();
    }
    const int header = archive_read_next_header(reader.get(), &entry);
    if (header == ARCHIVE_EOF) {
        return {};  // Nothing, compressed: what is cut off has failed when it was opened.
    }
    if (header != ARCHIVE_OK) {
        throw failed();
    }
    std::string result;
    std::string block(std::size_t{1} << 16U, '\0');
    for (;;) {
        const la_ssize_t got = archive_read_data(reader.get(), block.data(), block.size());
        if (got < 0) {
            throw failed();
        }
        if (got == 0) {
            return result;
        }
        result.append(block, 0, static_cast<std::size_t>(got));
        if (result.size() > limit) {
            throw error(kind, "{}: decompressed, it is larger than {} MiB", name, limit >> 20U);
        }
    }
}

}  // namespace edgegpu
