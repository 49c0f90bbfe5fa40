#include "delta/delta_check.hpp"

#include <cerrno>
#include <cstddef>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>

#include "delta/static_delta.hpp"
#include "repository/ostree_object.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"

namespace edgegpu {

namespace {

/// OSTREE_STATIC_DELTA_SIGNED_MAGIC
constexpr std::string_view signed_magic = "OSTSGNDT";

/// A regular file of the directory, or nothing, with errno.
Fd open_file(const Fd& directory, const std::string& name, struct stat& status) {
    Fd file = open_at(directory.get(), name, O_RDONLY | O_NONBLOCK,
                      RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    if (!file || ::fstat(file.get(), &status) != 0) {
        return {};
    }
    if (!S_ISREG(status.st_mode)) {
        errno = EINVAL;
        return {};
    }
    return file;
}

/// What is wrong with a part; empty for a good one.
std::string part_fault(const Fd& directory, std::size_t number, const std::string& checksum,
                       std::uint64_t size, bool has_size) {
    struct stat status {};
    const Fd file = open_file(directory, std::to_string(number), status);
    if (!file) {
        return fmt::format("part {} {}", number, errno == ENOENT ? "is missing" : "cannot be read");
    }
    if (sha256_file(path_of_descriptor(file.get())) != checksum) {
        return fmt::format("part {} {}", number,
                           has_size && static_cast<std::uint64_t>(status.st_size) < size
                               ? "is truncated"
                               : "has another checksum");
    }
    if (has_size && static_cast<std::uint64_t>(status.st_size) != size) {
        return fmt::format("part {} has {} bytes, and the superblock says {}", number,
                           status.st_size, size);
    }
    return {};
}

/// Whether the numbers in the superblock are in this machine's order.
bool is_native(GVariant* metadata) {
    guchar order = 0;
    return g_variant_lookup(metadata, "ostree.endianness", "y", &order) != FALSE &&
           order == (G_BYTE_ORDER == G_LITTLE_ENDIAN ? 'l' : 'B');
}

std::vector<std::string> part_faults(const Fd& directory, GVariant* superblock,
                                     const std::string& path) {
    std::vector<std::string> faults;
    const VariantHandle metadata(g_variant_get_child_value(superblock, 0));
    const VariantHandle parts(g_variant_get_child_value(superblock, 6));
    for (gsize i = 0; i < g_variant_n_children(parts.get()); ++i) {
        const VariantHandle header(g_variant_get_child_value(parts.get(), i));
        guint64 size = 0;
        g_variant_get(header.get(), "(u@aytt@ay)", nullptr, nullptr, &size, nullptr, nullptr);
        // Other programs may put a part into the superblock.
        const VariantHandle inside(
            g_variant_lookup_value(metadata.get(), fmt::format("{}/{}", path, i).c_str(), nullptr));
        std::string fault = inside ? std::string()
                                   : part_fault(directory, i, checksum_in(header.get(), 1), size,
                                                is_native(metadata.get()));
        if (!fault.empty()) {
            faults.push_back(std::move(fault));
        }
    }
    return faults;
}

}  // namespace

bool is_signed_format(const Fd& directory) {
    struct stat status {};
    const Fd file = open_file(directory, superblock_name, status);
    return file && read_beginning(file.get(), superblock_name, signed_magic.size()) == signed_magic;
}

std::vector<std::string> delta_faults(const Fd& directory, const std::string& from,
                                      const std::string& to) {
    if (is_signed_format(directory)) {
        return {};
    }
    const VariantHandle superblock = load_superblock(directory);
    if (!superblock) {
        return {"the superblock is damaged"};
    }
    const VariantHandle commit(g_variant_get_child_value(superblock.get(), 4));
    if (checksum_in(superblock.get(), 2) != from || checksum_in(superblock.get(), 3) != to ||
        sha256_hex(bytes_of(commit.get())) != to) {
        return {"the superblock is of other commits"};
    }
    return part_faults(directory, superblock.get(), delta_path(from, to));
}

std::map<std::string, std::string> named_deltas(GVariant* metadata) {
    std::map<std::string, std::string> named;
    const VariantHandle deltas(
        g_variant_lookup_value(metadata, "ostree.static-deltas", G_VARIANT_TYPE("a{sv}")));
    for (gsize i = 0; deltas && i < g_variant_n_children(deltas.get()); ++i) {
        const VariantHandle pair(g_variant_get_child_value(deltas.get(), i));
        const char* name = nullptr;
        GVariant* value = nullptr;
        g_variant_get(pair.get(), "{&sv}", &name, &value);
        const VariantHandle owned(value);
        const VariantHandle tuple = own(g_variant_new_tuple(&value, 1));
        named[name] = g_variant_is_of_type(value, G_VARIANT_TYPE_BYTESTRING) != FALSE
                          ? checksum_in(tuple.get(), 0)
                          : std::string();
    }
    return named;
}

std::string superblock_digest(const Fd& directory) {
    struct stat status {};
    const Fd file = open_file(directory, superblock_name, status);
    return file ? sha256_file(path_of_descriptor(file.get())) : std::string();
}

}  // namespace edgegpu
