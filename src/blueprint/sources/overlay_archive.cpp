#include "blueprint/sources/overlay_archive.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include <archive.h>
#include <archive_entry.h>

#include "support/error.hpp"
#include "support/handles.hpp"
#include "support/text.hpp"

namespace edgegpu {

namespace {

constexpr std::size_t block_size = 128UL * 1024UL;

/// The raw bytes if the archive has any, else libarchive's UTF-8 from a pax header.
std::string either(const char* bytes, const char* utf8) {
    return bytes != nullptr ? bytes : text_of(utf8);
}

std::string capabilities_of(archive_entry* entry) {
    archive_entry_xattr_reset(entry);
    const char* name = nullptr;
    const void* value = nullptr;
    std::size_t size = 0;
    while (archive_entry_xattr_next(entry, &name, &value, &size) == ARCHIVE_OK) {
        if (name != nullptr && std::string_view(name) == "security.capability") {
            return {static_cast<const char*>(value), size};
        }
    }
    return {};
}

}  // namespace

struct TarReader::Impl {
    Handle<archive, archive_read_free> reader{archive_read_new()};
    std::string called;
    std::string hint;
    /// Name and size of the current member.
    std::string member;
    std::uint64_t size = 0;

    [[nodiscard]] Error failure() const {
        const std::string reason = text_of(archive_error_string(reader.get()));
        const std::string place = member.empty() ? "" : fmt::format(" at member \"{}\"", member);
        return error(ErrorKind::usage, "{} is corrupt or truncated{}: {}", called, place,
                     reason.empty() ? "unreadable" : reason)
            .hinted(hint);
    }
};

TarReader::TarReader(const std::filesystem::path& path, std::string called, std::string hint)
    : impl_(std::make_unique<Impl>()) {
    impl_->called = std::move(called);
    impl_->hint = std::move(hint);
    archive* reader = impl_->reader.get();
    if (reader == nullptr) {
        throw errno_error("archive_read_new", ENOMEM);
    }
    archive_read_support_format_tar(reader);
    archive_read_support_filter_gzip(reader);
    archive_read_support_filter_xz(reader);
    archive_read_support_filter_zstd(reader);
    archive_read_support_filter_bzip2(reader);
    if (archive_read_open_filename(reader, path.c_str(), block_size) != ARCHIVE_OK) {
        throw impl_->failure();
    }
}

TarReader::TarReader(TarReader&&) noexcept = default;
TarReader& TarReader::operator=(TarReader&&) noexcept = default;
TarReader::~TarReader() = default;

bool TarReader::next(TarMember& member) {
    archive_entry* entry = nullptr;
    const int code = archive_read_next_header(impl_->reader.get(), &entry);
    if (code == ARCHIVE_EOF) {
        return false;
    }
    // ARCHIVE_WARN: the name cannot be converted to the build machine's locale; its bytes are
    // available.
    if (code != ARCHIVE_OK && code != ARCHIVE_WARN) {
        throw impl_->failure();
    }
    member = {};
    member.name = either(archive_entry_pathname(entry), archive_entry_pathname_utf8(entry));
    member.type = archive_entry_filetype(entry);
    member.mode = archive_entry_perm(entry);
    member.target = either(archive_entry_symlink(entry), archive_entry_symlink_utf8(entry));
    member.linked = either(archive_entry_hardlink(entry), archive_entry_hardlink_utf8(entry));
    member.size = static_cast<std::uint64_t>(std::max<std::int64_t>(archive_entry_size(entry), 0));
    member.capabilities = capabilities_of(entry);
    member.uid = static_cast<std::uint64_t>(std::max<std::int64_t>(archive_entry_uid(entry), 0));
    member.gid = static_cast<std::uint64_t>(std::max<std::int64_t>(archive_entry_gid(entry), 0));
    impl_->member = member.name;
    impl_->size = member.size;
    return true;
}

void TarReader::read(const std::function<void(const char*, std::size_t)>& use) {
    std::array<char, block_size> buffer;
    std::uint64_t left = impl_->size;
    while (left > 0) {
        const auto got = archive_read_data(impl_->reader.get(), buffer.data(), buffer.size());
        if (got <= 0 || static_cast<std::uint64_t>(got) > left) {
            throw impl_->failure();
        }
        use(buffer.data(), static_cast<std::size_t>(got));
        left -= static_cast<std::uint64_t>(got);
    }
}

}  // namespace edgegpu
