#include "image/capabilities.hpp"

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <endian.h>
#include <linux/capability.h>
#include <sys/capability.h>

#include "support/error.hpp"
#include "support/handles.hpp"

namespace edgegpu {

namespace {

using Capabilities = Handle<std::remove_pointer_t<cap_t>, cap_free>;

/// For libcap, "all" are the capabilities of the running kernel. This is the last one that all
/// kernels on which images are built (5.11 or newer, for the overlay) have; newer ones are ignored,
/// so that images do not depend on the kernel.
constexpr cap_value_t last_capability = CAP_CHECKPOINT_RESTORE;

/// One of the sets as a bit mask.
std::uint64_t mask_of(const Capabilities& capabilities, cap_flag_t set) {
    std::uint64_t mask = 0;
    for (cap_value_t number = 0; number <= last_capability; ++number) {
        cap_flag_value_t value = CAP_CLEAR;
        if (cap_get_flag(capabilities.get(), number, set, &value) == 0 && value == CAP_SET) {
            mask |= std::uint64_t{1} << static_cast<unsigned>(number);
        }
    }
    return mask;
}

/// The first field of a raw value; 0 if there is none.
std::uint32_t magic_of(std::string_view raw) {
    std::uint32_t magic = 0;
    if (raw.size() >= sizeof magic) {
        std::memcpy(&magic, raw.data(), sizeof magic);
    }
    return le32toh(magic);
}

std::uint32_t revision_of(std::string_view raw) {
    return magic_of(raw) & VFS_CAP_REVISION_MASK;
}

void append_le32(std::string& raw, std::uint64_t value) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
        raw += static_cast<char>((value >> shift) & 0xffU);
    }
}

}  // namespace

std::string parse_capabilities(std::string_view text) {
    const Capabilities capabilities(cap_from_text(std::string(text).c_str()));
    if (!capabilities) {
        throw error("'{}' does not describe capabilities (cap_from_text(3))", text);
    }
    const std::uint64_t effective_set = mask_of(capabilities, CAP_EFFECTIVE);
    const std::uint64_t permitted = mask_of(capabilities, CAP_PERMITTED);
    const std::uint64_t inheritable = mask_of(capabilities, CAP_INHERITABLE);
    if ((effective_set | permitted | inheritable) == 0) {
        return {};
    }
    // A file has one effective bit for all its capabilities.
    const bool effective = effective_set != 0;
    std::string raw;
    append_le32(raw, VFS_CAP_REVISION_2 | (effective ? VFS_CAP_FLAGS_EFFECTIVE : 0U));
    for (const unsigned shift : {0U, 32U}) {
        append_le32(raw, permitted >> shift);
        append_le32(raw, inheritable >> shift);
    }
    return raw;
}

bool are_capabilities(std::string_view raw) {
    const std::uint32_t revision = revision_of(raw);
    return (revision == VFS_CAP_REVISION_2 && raw.size() == XATTR_CAPS_SZ_2) ||
           (revision == VFS_CAP_REVISION_3 && raw.size() == XATTR_CAPS_SZ_3);
}

std::string without_namespace(std::string raw, std::string_view path) {
    // struct vfs_ns_cap_data of linux/capability.h: struct vfs_cap_data and a root id.
    if (revision_of(raw) != VFS_CAP_REVISION_3 || raw.size() != XATTR_CAPS_SZ_3) {
        return raw;
    }
    std::uint32_t root = 0;
    std::memcpy(&root, raw.data() + XATTR_CAPS_SZ_2, sizeof root);
    if (root != 0) {
        throw error("{} of the image: its capabilities belong to a user namespace", path)
            .hinted("a scriptlet of a package set them; leave the package out");
    }
    const std::uint32_t magic =
        htole32((magic_of(raw) & ~VFS_CAP_REVISION_MASK) | VFS_CAP_REVISION_2);
    std::memcpy(raw.data(), &magic, sizeof magic);
    raw.resize(XATTR_CAPS_SZ_2);
    return raw;
}

}  // namespace edgegpu
