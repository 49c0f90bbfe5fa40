#include "repository/ostree_object.hpp"

#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/ranges.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::size_t checksum_size = 32;

/// Of the file of an object, and its type (ostree-core.h).
struct Format {
    const char* extension;
    const char* type;
};

Format format_of(OstreeObjectType type) {
    switch (type) {
        case OSTREE_OBJECT_TYPE_DIR_TREE:
            return {"dirtree", "(a(say)a(sayay))"};
        case OSTREE_OBJECT_TYPE_DIR_META:
            return {"dirmeta", "(uuua(ayay))"};
        case OSTREE_OBJECT_TYPE_COMMIT_META:
            return {"commitmeta", "a{sv}"};
        default:
            return {"commit", "(a{sv}aya(say)sstayay)"};
    }
}

/// Versions, names of kernels and drivers, kernel arguments.
constexpr std::size_t longest_text = 4096;

std::string checked_text(const char* text, const char* key, std::string_view commit) {
    std::string result(text);
    if (result.size() > longest_text) {
        throw error("commit {}: a text in '{}' of its metadata has {} bytes", commit, key,
                    result.size())
            .hinted("where does this commit come from?");
    }
    return result;
}

}  // namespace

Fd open_object(OstreeRepo* repo, const std::string& checksum,
               std::pair<const char*, const char*> extensions, OstreeRepo*& found,
               GlibFailure& failure) {
    for (found = repo; found != nullptr; found = ostree_repo_get_parent(found)) {
        const bool archive = ostree_repo_get_mode(found) == OSTREE_REPO_MODE_ARCHIVE;
        const std::string path =
            fmt::format("objects/{}/{}.{}", checksum.substr(0, 2), checksum.substr(2),
                        archive ? extensions.first : extensions.second);
        Fd file(::openat(ostree_repo_get_dfd(found), path.c_str(),
                         O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        // ELOOP: in a bare repository, a symlink.
        if (file || (errno == ELOOP && !archive)) {
            return file;
        }
        if (errno != ENOENT) {
            g_set_error_literal(failure.out(), G_IO_ERROR, g_io_error_from_errno(errno),
                                g_strerror(errno));
            return {};
        }
    }
    g_set_error(failure.out(), G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "no object %s.%s",
                checksum.c_str(), extensions.first);
    return {};
}

VariantHandle load_object(OstreeRepo* repo, OstreeObjectType type, const std::string& checksum,
                          GlibFailure& failure) {
    const auto malformed = [&](const char* what) {
        g_set_error_literal(failure.out(), G_IO_ERROR, G_IO_ERROR_INVALID_DATA, what);
        return VariantHandle();
    };
    const Format format = format_of(type);
    OstreeRepo* holder = nullptr;
    const Fd file =
        open_object(repo, checksum, {format.extension, format.extension}, holder, failure);
    if (failure.get() != nullptr) {
        return {};
    }
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
        return malformed("not a regular file");
    }
    if (status.st_size > OSTREE_MAX_METADATA_SIZE) {
        return malformed("larger than 10 MiB");
    }
    VariantHandle object =
        variant_from(G_VARIANT_TYPE(format.type), read_file(file.get(), checksum));
    return object ? std::move(object) : malformed("not in normal form");
}

std::string checksum_in(GVariant* tuple, gsize index) {
    const VariantHandle bytes(g_variant_get_child_value(tuple, index));
    gsize size = 0;
    const auto* data =
        static_cast<const guint8*>(g_variant_get_fixed_array(bytes.get(), &size, sizeof(guint8)));
    if (size != checksum_size) {
        return {};
    }
    return hexadecimal({reinterpret_cast<const char*>(data), size});
}

std::string checksum_bytes(const std::string& checksum) {
    if (!is_sha256(checksum)) {
        throw error("\"{}\" is not a SHA-256 checksum", checksum);
    }
    std::string bytes(checksum_size, '\0');
    ostree_checksum_inplace_to_bytes(checksum.c_str(), reinterpret_cast<guchar*>(bytes.data()));
    return bytes;
}

VariantHandle metadata_value(GVariant* metadata, const char* key, const char* type,
                             std::string_view commit) {
    VariantHandle value(g_variant_lookup_value(metadata, key, nullptr));
    if (value && g_variant_is_of_type(value.get(), G_VARIANT_TYPE(type)) == FALSE) {
        throw error("commit {}: '{}' of its metadata has the type {}, not {}", commit, key,
                    g_variant_get_type_string(value.get()), type)
            .hinted("it was not written by edgegpu: where does this commit come from?");
    }
    return value;
}

std::string metadata_text(GVariant* metadata, const char* key, std::string_view commit) {
    const VariantHandle value = metadata_value(metadata, key, "s", commit);
    return value ? checked_text(g_variant_get_string(value.get(), nullptr), key, commit)
                 : std::string();
}

std::optional<std::vector<std::string>> metadata_texts(GVariant* metadata, const char* key,
                                                       std::string_view commit) {
    const VariantHandle value = metadata_value(metadata, key, "as", commit);
    if (!value) {
        return std::nullopt;
    }
    return mapped(children_of(value.get()), [&](const VariantHandle& text) {
        return checked_text(g_variant_get_string(text.get(), nullptr), key, commit);
    });
}

}  // namespace edgegpu
