#include "support/files/cpio_archive.hpp"

#include <cstddef>
#include <new>

#include <archive.h>
#include <archive_entry.h>

#include "support/error.hpp"
#include "support/handles.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// libarchive's write callback; `out` is a std::string.
la_ssize_t append_to_string(archive* /*writer*/, void* out, const void* bytes,
                            std::size_t size) noexcept {
    try {
        static_cast<std::string*>(out)->append(static_cast<const char*>(bytes), size);
    } catch (const std::bad_alloc&) {
        return -1;
    }
    return static_cast<la_ssize_t>(size);
}

}  // namespace

std::string cpio_archive(std::string_view what, const std::vector<CpioEntry>& entries,
                         std::int64_t time, CpioFilter filter) {
    const Handle<archive, archive_write_free> writer(archive_write_new());
    const auto check = [&](la_ssize_t status) {
        if (status < ARCHIVE_OK) {
            throw error("cannot write {}: {}", what, text_of(archive_error_string(writer.get())));
        }
    };
    std::string out;
    check(archive_write_set_format_cpio_newc(writer.get()));
    if (filter == CpioFilter::gzip) {
        check(archive_write_add_filter_gzip(writer.get()));
        check(archive_write_set_options(writer.get(), "gzip:compression-level=1,gzip:!timestamp"));
    }
    check(archive_write_set_bytes_in_last_block(writer.get(), 1));
    check(archive_write_open(writer.get(), &out, nullptr, append_to_string, nullptr));
    std::int64_t inode = 0;
    for (const CpioEntry& one : entries) {
        const Handle<archive_entry, archive_entry_free> entry(archive_entry_new());
        archive_entry_set_pathname(entry.get(), one.path.c_str());
        archive_entry_set_mode(entry.get(), one.mode);
        archive_entry_set_nlink(entry.get(), 1);
        archive_entry_set_ino64(entry.get(), ++inode);
        archive_entry_set_mtime(entry.get(), time, 0);
        archive_entry_set_size(entry.get(), static_cast<la_int64_t>(one.content.size()));
        check(archive_write_header(writer.get(), entry.get()));
        check(archive_write_data(writer.get(), one.content.data(), one.content.size()));
    }
    check(archive_write_close(writer.get()));
    return out;
}

}  // namespace edgegpu
