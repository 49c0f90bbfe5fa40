#include "support/files/tar_reader.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <string_view>
#include <utility>

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>

#include "support/error.hpp"
#include "support/files/decompress.hpp"
#include "support/files/digest.hpp"
#include "support/handles.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::size_t archive_block_size = 128UL * 1024UL;

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
    explicit Impl(TarFile opened)
        : file(std::move(opened)),
          content(open_archive(file), file.limit, file.called, file.kind) {}

    TarFile file;
    Decompressor content;
    Sha256 digest{};
    std::array<char, archive_block_size> block{};
    /// of `content`; thrown when libarchive, a C library, has returned
    std::exception_ptr failure{};
    Handle<archive, archive_read_free> reader{archive_read_new()};
    /// Name and size of the current member.
    std::string member{};
    std::uint64_t size = 0;

    static Fd open_archive(const TarFile& file) {
        Fd fd(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC));
        if (!fd) {
            throw Error(file.kind, errno_error(file.called, errno).message());
        }
        return fd;
    }

    [[nodiscard]] std::size_t read_block() {
        const std::size_t got = content.read(block);
        digest.update(block.data(), got);
        return got;
    }

    static la_ssize_t give_block(archive* /*reader*/, void* data, const void** block) noexcept {
        Impl& self = *static_cast<Impl*>(data);
        try {
            *block = self.block.data();
            return static_cast<la_ssize_t>(self.read_block());
        } catch (...) {
            self.failure = std::current_exception();
            return ARCHIVE_FATAL;
        }
    }

    [[nodiscard]] Error problem() const {
        if (failure) {
            try {
                std::rethrow_exception(failure);
            } catch (Error& damaged) {
                return damaged.hinted(file.hint);
            }
        }
        const std::string reason = text_of(archive_error_string(reader.get()));
        const std::string place = member.empty() ? "" : fmt::format(" at member \"{}\"", member);
        return error(file.kind, "{} is corrupt or truncated{}: {}", file.called, place,
                     reason.empty() ? "unreadable" : reason)
            .hinted(file.hint);
    }
};

TarReader::TarReader(TarFile file) {
    const std::string hint = file.hint;
    try {
        impl_ = std::make_unique<Impl>(std::move(file));
    } catch (Error& damaged) {
        throw damaged.hinted(hint);
    }
    archive* reader = impl_->reader.get();
    if (reader == nullptr) {
        throw errno_error("archive_read_new", ENOMEM);
    }
    archive_read_support_format_tar(reader);
    if (impl_->file.may_be_empty) {
        archive_read_support_format_empty(reader);
    }
    if (archive_read_open(reader, impl_.get(), nullptr, Impl::give_block, nullptr) != ARCHIVE_OK) {
        throw impl_->problem();
    }
}

TarReader::TarReader(TarReader&&) noexcept = default;
TarReader& TarReader::operator=(TarReader&&) noexcept = default;
TarReader::~TarReader() = default;

bool TarReader::next(TarMember& member) {
    archive_entry* entry = nullptr;
    const int code = archive_read_next_header(impl_->reader.get(), &entry);
    if (code == ARCHIVE_EOF && !impl_->failure) {
        return false;
    }
    // ARCHIVE_WARN: the name cannot be converted to the build machine's locale; its bytes are
    // available.
    if (code != ARCHIVE_OK && code != ARCHIVE_WARN) {
        throw impl_->problem();
    }
    member = {};
    member.name = either(archive_entry_pathname(entry), archive_entry_pathname_utf8(entry));
    member.type = archive_entry_filetype(entry);
    member.mode = archive_entry_perm(entry);
    member.target = either(archive_entry_symlink(entry), archive_entry_symlink_utf8(entry));
    member.linked = either(archive_entry_hardlink(entry), archive_entry_hardlink_utf8(entry));
    member.size = static_cast<std::uint64_t>(std::max<std::int64_t>(archive_entry_size(entry), 0));
    member.capabilities = capabilities_of(entry);
    member.uid = static_cast<std::uint64_t>(archive_entry_uid(entry));
    member.gid = static_cast<std::uint64_t>(archive_entry_gid(entry));
    member.modified = archive_entry_mtime(entry);
    impl_->member = member.name;
    impl_->size = member.size;
    return true;
}

void TarReader::read(const std::function<void(const char*, std::size_t)>& use) {
    std::array<char, archive_block_size> buffer;
    std::uint64_t left = impl_->size;
    while (left > 0) {
        const auto got = archive_read_data(impl_->reader.get(), buffer.data(), buffer.size());
        if (got <= 0 || static_cast<std::uint64_t>(got) > left) {
            throw impl_->problem();
        }
        use(buffer.data(), static_cast<std::size_t>(got));
        left -= static_cast<std::uint64_t>(got);
    }
}

std::string TarReader::finish() {
    try {
        while (impl_->read_block() != 0) {
        }
    } catch (Error& damaged) {
        throw damaged.hinted(impl_->file.hint);
    }
    return impl_->digest.hex();
}

}  // namespace edgegpu
