#include "repository/file_object.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <gio/gunixinputstream.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "repository/ostree_object.hpp"
#include "support/files/digest.hpp"
#include "support/files/file_content.hpp"
#include "support/handles.hpp"
#include "support/ranges.hpp"

namespace edgegpu {

namespace {

using ConverterHandle = Handle<GConverter, g_object_unref>;
using InfoHandle = Handle<GFileInfo, g_object_unref>;
using StreamHandle = Handle<GInputStream, g_object_unref>;

/// Size of the header (big endian) and 4 bytes of padding, before the header.
constexpr std::size_t prefix_size = 8;
/// No larger header: libostree limits all metadata objects to this.
constexpr std::uint64_t max_header_size = 10U << 20U;
constexpr unsigned file_permission_bits = 07777;

using ErrorPlace = GError**;

void set_malformed(ErrorPlace out, const char* what) {
    g_set_error(out, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "malformed file object: %s", what);
}

void set_truncated(ErrorPlace out) {
    g_set_error_literal(out, G_IO_ERROR, G_IO_ERROR_PARTIAL_INPUT,
                        "malformed file object: it is truncated");
}

void set_errno(ErrorPlace out, int code) {
    g_set_error_literal(out, G_IO_ERROR, g_io_error_from_errno(code), g_strerror(code));
}

/// Reads all of `buffer` from `file` at `offset`.
bool read_exactly(int file, char* buffer, std::size_t size, std::uint64_t offset) {
    return read_at(file, buffer, size, offset) == static_cast<ssize_t>(size);
}

/// The header of an archive object, of type "(tuuuusa(ayay))" and in normal form, or null. The
/// position of `file` is then behind it.
VariantHandle read_header(int file, ErrorPlace out) {
    struct stat status {};
    std::array<unsigned char, prefix_size> prefix{};
    if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
        set_malformed(out, "not a regular file");
        return {};
    }
    if (!read_exactly(file, reinterpret_cast<char*>(prefix.data()), prefix.size(), 0)) {
        set_truncated(out);
        return {};
    }
    std::uint64_t size = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        size = size << 8U | prefix.at(i);
    }
    if (size == 0 || size > max_header_size) {
        set_malformed(out, "the size of its header is out of range");
        return {};
    }
    const Handle<void, g_free> buffer(g_malloc(size));
    if (!read_exactly(file, static_cast<char*>(buffer.get()), size, prefix_size) ||
        ::lseek(file, static_cast<off_t>(prefix_size + size), SEEK_SET) < 0) {
        set_truncated(out);
        return {};
    }
    VariantHandle header = variant_from(G_VARIANT_TYPE("(tuuuusa(ayay))"),
                                        {static_cast<const char*>(buffer.get()), size});
    if (!header) {
        set_malformed(out, "its header is not in normal form");
    }
    return header;
}

std::optional<FileObject> load_archived(Fd file, ErrorPlace out) {
    const VariantHandle header = read_header(file.get(), out);
    if (!header) {
        return std::nullopt;
    }
    std::uint64_t size = 0;
    std::array<std::uint32_t, 4> numbers{};
    const char* target = nullptr;
    GVariant* attributes = nullptr;
    g_variant_get(header.get(), "(tuuuu&s@a(ayay))", &size, &numbers[0], &numbers[1], &numbers[2],
                  &numbers[3], &target, &attributes);
    FileObject object;
    object.attributes = VariantHandle(attributes);
    const unsigned mode = GUINT32_FROM_BE(numbers[2]);
    object.described.uid = GUINT32_FROM_BE(numbers[0]);
    object.described.gid = GUINT32_FROM_BE(numbers[1]);
    object.described.mode = mode & file_permission_bits;
    if (S_ISLNK(mode)) {
        object.described.type = EntryType::symlink;
        object.described.target = target;
    } else if (S_ISREG(mode)) {
        object.described.size = GUINT64_FROM_BE(size);
        const StreamHandle stored(g_unix_input_stream_new(file.release(), TRUE));
        const ConverterHandle inflater(
            G_CONVERTER(g_zlib_decompressor_new(G_ZLIB_COMPRESSOR_FORMAT_RAW)));
        object.content = StreamHandle(g_converter_input_stream_new(stored.get(), inflater.get()));
    } else {
        set_malformed(out, "neither a file nor a symlink");
        return std::nullopt;
    }
    read_attributes(attributes, object.described);
    return object;
}

/// Whether libostree may read the object of a bare-user repository: its type is in an extended
/// attribute, "(uuua(ayay))".
bool has_file_type(int file, ErrorPlace out) {
    std::array<std::uint32_t, 3> numbers{};
    // At most 64 KiB: the kernel's limit.
    std::string value(std::size_t{64} << 10U, '\0');
    const ssize_t got = ::fgetxattr(file, "user.ostreemeta", value.data(), value.size());
    if (got < 0) {
        set_errno(out, errno);
        return false;
    }
    const Handle<GBytes, g_bytes_unref> bytes(
        g_bytes_new(value.data(), static_cast<std::size_t>(got)));
    const VariantHandle metadata =
        own(g_variant_new_from_bytes(G_VARIANT_TYPE("(uuua(ayay))"), bytes.get(), FALSE));
    g_variant_get(metadata.get(), "(uuu@a(ayay))", &numbers[0], &numbers[1], &numbers[2], nullptr);
    const unsigned mode = GUINT32_FROM_BE(numbers[2]);
    if (g_variant_is_normal_form(metadata.get()) == FALSE || !(S_ISREG(mode) || S_ISLNK(mode))) {
        set_malformed(out, "its metadata are neither a file's nor a symlink's");
        return false;
    }
    return true;
}

std::optional<FileObject> load_bare(OstreeRepo* repo, const std::string& checksum,
                                    GlibFailure& failure) {
    GInputStream* stream = nullptr;
    GFileInfo* info = nullptr;
    GVariant* attributes = nullptr;
    if (ostree_repo_load_file(repo, checksum.c_str(), &stream, &info, &attributes, nullptr,
                              failure.out()) == FALSE) {
        return std::nullopt;
    }
    FileObject object;
    object.content = StreamHandle(stream);
    const InfoHandle owned(info);
    object.attributes = VariantHandle(attributes);
    object.described.mode =
        g_file_info_get_attribute_uint32(info, "unix::mode") & file_permission_bits;
    object.described.uid = g_file_info_get_attribute_uint32(info, "unix::uid");
    object.described.gid = g_file_info_get_attribute_uint32(info, "unix::gid");
    if (g_file_info_get_file_type(info) == G_FILE_TYPE_SYMBOLIC_LINK) {
        const char* target = g_file_info_get_symlink_target(info);
        object.described.type = EntryType::symlink;
        object.described.target = target == nullptr ? "" : target;
    } else {
        object.described.size =
            static_cast<std::uint64_t>(std::max<goffset>(0, g_file_info_get_size(info)));
    }
    if (attributes != nullptr) {
        read_attributes(attributes, object.described);
    }
    return object;
}

}  // namespace

std::optional<FileObject> read_archived_object(Fd file, GlibFailure& failure) {
    return load_archived(std::move(file), failure.out());
}

std::string hashed_header(const FileObject& object) {
    const CommitPath& described = object.described;
    const unsigned type = described.type == EntryType::symlink ? S_IFLNK : S_IFREG;
    const VariantHandle header = own(g_variant_new(
        "(uuuus@a(ayay))", GUINT32_TO_BE(described.uid), GUINT32_TO_BE(described.gid),
        GUINT32_TO_BE(type | described.mode), 0U, described.target.c_str(),
        object.attributes ? object.attributes.get()
                          : g_variant_new_array(G_VARIANT_TYPE("(ayay)"), nullptr, 0)));
    const gsize size = g_variant_get_size(header.get());
    std::string text;
    for (const unsigned shift : {24U, 16U, 8U, 0U}) {
        text += static_cast<char>(size >> shift & 0xffU);
    }
    return text.append(4, '\0').append(bytes_of(header.get()));
}

std::string checksum_of(const FileObject& object, GlibFailure& failure) {
    Sha256 digest;
    digest.update(hashed_header(object));
    std::array<char, 65536> buffer{};
    std::uint64_t size = 0;
    while (object.content) {
        const gssize got = g_input_stream_read(object.content.get(), buffer.data(), buffer.size(),
                                               nullptr, failure.out());
        if (got < 0) {
            return {};
        }
        if (got == 0) {
            break;
        }
        digest.update(buffer.data(), static_cast<std::size_t>(got));
        size += static_cast<std::uint64_t>(got);
    }
    // The size in an object's header is no part of its checksum.
    if (object.content && size != object.described.size) {
        set_malformed(failure.out(), "it does not have the size in its header");
        return {};
    }
    return digest.hex();
}

std::vector<std::pair<std::string, std::string>> extended_attributes(GVariant* attributes) {
    return mapped(children_of(attributes), [](const VariantHandle& pair) {
        const VariantHandle name(g_variant_get_child_value(pair.get(), 0));
        const VariantHandle value(g_variant_get_child_value(pair.get(), 1));
        const std::string_view key = bytes_of(name.get());
        return std::pair(std::string(key.substr(0, key.find('\0'))),
                         std::string(bytes_of(value.get())));
    });
}

void read_attributes(GVariant* attributes, CommitPath& path) {
    for (const auto& [key, value] : extended_attributes(attributes)) {
        if (key == "security.selinux") {
            // In commits of libostree, it ends with a NUL, as names do.
            path.label = value.substr(0, value.find('\0'));
        } else {
            path.attributes += fmt::format("{}:{}:{}:", key, value.size(), value);
        }
    }
}

std::optional<FileObject> load_file_object(OstreeRepo* repo, const std::string& checksum,
                                           GlibFailure& failure) {
    OstreeRepo* holder = nullptr;
    Fd file = open_object(repo, checksum, {"filez", "file"}, holder, failure);
    if (failure.get() != nullptr) {
        return std::nullopt;
    }
    const ErrorPlace out = failure.out();
    const OstreeRepoMode mode = ostree_repo_get_mode(holder);
    std::optional<FileObject> object;
    if (mode == OSTREE_REPO_MODE_ARCHIVE) {
        object = load_archived(std::move(file), out);
    } else if (mode != OSTREE_REPO_MODE_BARE_USER || has_file_type(file.get(), out)) {
        object = load_bare(holder, checksum, failure);
    }
    if (object) {
        object->described.checksum = checksum;
    }
    return object;
}

}  // namespace edgegpu
