#include "commit/object.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "repository/ostree_object.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file_content.hpp"
#include "support/glib.hpp"
#include "support/handles.hpp"
#include "support/text/utf8.hpp"

namespace edgegpu {
namespace {

constexpr unsigned permission_bits = 07777;
constexpr std::size_t read_size = 128UL * 1024;

GVariant* byte_array(std::string_view bytes) {
    return g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, bytes.data(), bytes.size(), 1);
}

// Sorted by name, since libostree before 2025.2 hashes them in the given order.
GVariant* extended_attributes(const Entry& entry) {
    GVariantBuilder builder;
    g_variant_builder_init(&builder, G_VARIANT_TYPE("a(ayay)"));
    const auto add = [&](const char* name, std::string_view value) {
        g_variant_builder_add(&builder, "(@ay@ay)", g_variant_new_bytestring(name),
                              byte_array(value));
    };
    if (!entry.capabilities.empty()) {
        add("security.capability", entry.capabilities);
    }
    if (!entry.label.empty()) {
        // The kernel's value includes a NUL at the end.
        add("security.selinux", std::string_view(entry.label.c_str(), entry.label.size() + 1));
    }
    return g_variant_builder_end(&builder);
}

std::uint32_t full_mode(const Entry& entry) {
    switch (entry.type) {
        case EntryType::directory:
            return S_IFDIR | (entry.mode & permission_bits);
        case EntryType::symlink:
            return S_IFLNK | 0777U;
        case EntryType::file:
            break;
    }
    return S_IFREG | (entry.mode & permission_bits);
}

std::string serialise(GVariant* floating, bool prefixed) {
    const VariantHandle variant = own(floating);
    const std::size_t size = g_variant_get_size(variant.get());
    const std::size_t offset = prefixed ? 8 : 0;
    std::string bytes(offset + size, '\0');
    if (prefixed) {
        for (unsigned i = 0; i < 4; ++i) {
            bytes[i] = static_cast<char>((size >> (24U - 8U * i)) & 0xffU);
        }
    }
    // g_variant_store needs an alignment of 8: malloc aligns to 16, and the offset is 0 or 8.
    g_variant_store(variant.get(), bytes.data() + offset);
    return bytes;
}

const char* checked_target(const Entry& entry, std::string_view path) {
    if (entry.type != EntryType::symlink) {
        return "";
    }
    if (!is_utf8(entry.target)) {
        throw error("{}: the link's target is not valid UTF-8, which ostree requires", path);
    }
    return entry.target.c_str();
}

void check_name(const std::string& name, std::string_view path) {
    if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos ||
        !is_utf8(name)) {
        throw error("{}: ostree does not support a file named \"{}\"", path, name)
            .hinted("names must be valid UTF-8 and neither \".\" nor \"..\"");
    }
}

}  // namespace

std::string object_header(const Entry& entry, std::string_view path) {
    return serialise(g_variant_new("(uuuus@a(ayay))", GUINT32_TO_BE(entry.uid),
                                   GUINT32_TO_BE(entry.gid), GUINT32_TO_BE(full_mode(entry)), 0U,
                                   checked_target(entry, path), extended_attributes(entry)),
                     true);
}

std::string archive_header(const Entry& entry, std::string_view path) {
    const std::uint64_t size = entry.type == EntryType::file ? entry.size : 0;
    return serialise(
        g_variant_new("(tuuuus@a(ayay))", GUINT64_TO_BE(size), GUINT32_TO_BE(entry.uid),
                      GUINT32_TO_BE(entry.gid), GUINT32_TO_BE(full_mode(entry)), 0U,
                      checked_target(entry, path), extended_attributes(entry)),
        true);
}

std::string dirmeta_object(const Entry& entry) {
    return serialise(
        g_variant_new("(uuu@a(ayay))", GUINT32_TO_BE(entry.uid), GUINT32_TO_BE(entry.gid),
                      GUINT32_TO_BE(full_mode(entry)), extended_attributes(entry)),
        false);
}

std::string dirtree_object(DirectoryContent content, std::string_view path) {
    for (const auto& [name, checksum] : content.files) {
        check_name(name, path);
    }
    for (const auto& directory : content.directories) {
        check_name(directory.name, path);
    }
    std::ranges::sort(content.files);
    std::ranges::sort(content.directories, {}, &DirectoryContent::Directory::name);
    GVariantBuilder files;
    g_variant_builder_init(&files, G_VARIANT_TYPE("a(say)"));
    GVariantBuilder directories;
    g_variant_builder_init(&directories, G_VARIANT_TYPE("a(sayay)"));
    for (const auto& [name, checksum] : content.files) {
        g_variant_builder_add(&files, "(s@ay)", name.c_str(), byte_array(checksum_bytes(checksum)));
    }
    for (const auto& directory : content.directories) {
        g_variant_builder_add(&directories, "(s@ay@ay)", directory.name.c_str(),
                              byte_array(checksum_bytes(directory.tree_checksum)),
                              byte_array(checksum_bytes(directory.meta_checksum)));
    }
    return serialise(g_variant_new("(@a(say)@a(sayay))", g_variant_builder_end(&files),
                                   g_variant_builder_end(&directories)),
                     false);
}

std::string content_checksum(const Entry& entry, std::string_view header) {
    Sha256 hash;
    hash.update(header);
    if (entry.type != EntryType::file || entry.size == 0) {
        return hash.hex();
    }
    const Fd file = open_to_read(entry.content);
    const std::uint64_t total = each_piece(file.get(), entry.content.string(),
                                           [&](std::string_view piece) { hash.update(piece); });
    if (total != entry.size) {
        throw error("{}: has {} bytes where {} were recorded", entry.content.string(), total,
                    entry.size)
            .hinted("the cache was changed from outside: delete this file and build again");
    }
    return hash.hex();
}

std::string object_path(std::string_view checksum, std::string_view extension) {
    return fmt::format("{}/{}.{}", checksum.substr(0, 2), checksum.substr(2), extension);
}

}  // namespace edgegpu
