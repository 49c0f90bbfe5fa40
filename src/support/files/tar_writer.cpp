#include "support/files/tar_writer.hpp"

#include <utility>

#include <sys/stat.h>

#include "support/error.hpp"

namespace edgegpu {

TarWriter::TarWriter(Sink sink, TarFormat format)
    : sink_(std::move(sink)), entry_(archive_entry_new()), archive_(archive_write_new()) {
    if (!archive_ || !entry_) {
        throw Error("libarchive: out of memory");
    }
    if (format == TarFormat::gnu) {
        check(archive_write_set_format_gnutar(archive_.get()), "cannot begin");
    } else {
        check(archive_write_set_format_pax_restricted(archive_.get()), "cannot begin");
        // Names are bytes, whatever the locale.
        check(archive_write_set_format_option(archive_.get(), "pax", "hdrcharset", "BINARY"),
              "cannot begin");
    }
    check(archive_write_set_bytes_per_block(archive_.get(), 64 * 1024), "cannot begin");
    check(archive_write_set_bytes_in_last_block(archive_.get(), 1), "cannot begin");
    check(archive_write_open2(archive_.get(), this, nullptr, &TarWriter::pass_on, nullptr, nullptr),
          "cannot begin");
}

la_ssize_t TarWriter::pass_on(archive* /*archive*/, void* self, const void* data,
                              std::size_t size) noexcept {
    auto& writer = *static_cast<TarWriter*>(self);
    // When libarchive frees an archive that was not finished, it writes the end of it.
    if (writer.thrown_) {
        return -1;
    }
    try {
        writer.sink_({static_cast<const char*>(data), size});
        return static_cast<la_ssize_t>(size);
    } catch (...) {
        writer.thrown_ = std::current_exception();
        return -1;
    }
}

void TarWriter::check(int result, std::string_view what) {
    if (thrown_) {
        std::rethrow_exception(thrown_);
    }
    // A warning is a member that is not written as it was given.
    if (result != ARCHIVE_OK) {
        const char* said = archive_error_string(archive_.get());
        throw error("tar archive: {} {}: {}", what, path_, said == nullptr ? "no reason" : said);
    }
}

void TarWriter::check_whole() const {
    if (missing_ != 0) {
        throw error("tar archive: {} has {} bytes less than its header says", path_, missing_);
    }
}

archive_entry* TarWriter::fresh(const std::string& path, const TarAttributes& attributes,
                                unsigned type) {
    check_whole();
    path_ = path;
    archive_entry* entry = archive_entry_clear(entry_.get());
    archive_entry_set_pathname(entry, path.c_str());
    archive_entry_set_mode(entry, static_cast<mode_t>(type | attributes.mode));
    archive_entry_set_uid(entry, attributes.uid);
    archive_entry_set_gid(entry, attributes.gid);
    archive_entry_set_mtime(entry, attributes.time, 0);
    archive_entry_set_size(entry, 0);
    for (const auto& [name, value] : attributes.extended) {
        archive_entry_xattr_add_entry(entry, name.c_str(), value.data(), value.size());
    }
    return entry;
}

void TarWriter::put(archive_entry* entry) {
    check(archive_write_header(archive_.get(), entry), "cannot write");
}

void TarWriter::directory(const std::string& path, const TarAttributes& attributes) {
    put(fresh(path, attributes, S_IFDIR));
}

void TarWriter::symlink(const std::string& path, const TarAttributes& attributes,
                        const std::string& target) {
    archive_entry* entry = fresh(path, attributes, S_IFLNK);
    archive_entry_set_symlink(entry, target.c_str());
    put(entry);
}

void TarWriter::hard_link(const std::string& path, const TarAttributes& attributes,
                          const std::string& target) {
    archive_entry* entry = fresh(path, attributes, S_IFREG);
    archive_entry_set_hardlink(entry, target.c_str());
    put(entry);
}

void TarWriter::file(const std::string& path, const TarAttributes& attributes,
                     std::string_view content) {
    begin_file(path, attributes, content.size());
    data(content);
}

void TarWriter::begin_file(const std::string& path, const TarAttributes& attributes,
                           std::uint64_t size) {
    archive_entry* entry = fresh(path, attributes, S_IFREG);
    if (size > static_cast<std::uint64_t>(INT64_MAX)) {
        throw error("tar archive: {} is too large", path);
    }
    archive_entry_set_size(entry, static_cast<la_int64_t>(size));
    put(entry);
    missing_ = size;
}

void TarWriter::data(std::string_view bytes) {
    if (bytes.size() > missing_) {
        throw error("tar archive: {} has more bytes than its header says", path_);
    }
    while (!bytes.empty()) {
        const la_ssize_t taken = archive_write_data(archive_.get(), bytes.data(), bytes.size());
        check(taken > 0 ? ARCHIVE_OK : ARCHIVE_FATAL, "cannot write");
        bytes.remove_prefix(static_cast<std::size_t>(taken));
        missing_ -= static_cast<std::uint64_t>(taken);
    }
}

void TarWriter::finish() {
    check_whole();
    check(archive_write_close(archive_.get()), "cannot end");
}

}  // namespace edgegpu
