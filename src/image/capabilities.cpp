#include "image/capabilities.hpp"

#include <array>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <optional>

#include <endian.h>
#include <linux/capability.h>

#include "support/error.hpp"

namespace edgegpu {

namespace {

/// In the order of their numbers, from 0 (<linux/capability.h>).
constexpr std::array<std::string_view, 41> names{"chown",
                                                 "dac_override",
                                                 "dac_read_search",
                                                 "fowner",
                                                 "fsetid",
                                                 "kill",
                                                 "setgid",
                                                 "setuid",
                                                 "setpcap",
                                                 "linux_immutable",
                                                 "net_bind_service",
                                                 "net_broadcast",
                                                 "net_admin",
                                                 "net_raw",
                                                 "ipc_lock",
                                                 "ipc_owner",
                                                 "sys_module",
                                                 "sys_rawio",
                                                 "sys_chroot",
                                                 "sys_ptrace",
                                                 "sys_pacct",
                                                 "sys_admin",
                                                 "sys_boot",
                                                 "sys_nice",
                                                 "sys_resource",
                                                 "sys_time",
                                                 "sys_tty_config",
                                                 "mknod",
                                                 "lease",
                                                 "audit_write",
                                                 "audit_control",
                                                 "setfcap",
                                                 "mac_override",
                                                 "mac_admin",
                                                 "syslog",
                                                 "wake_alarm",
                                                 "block_suspend",
                                                 "audit_read",
                                                 "perfmon",
                                                 "bpf",
                                                 "checkpoint_restore"};
constexpr std::uint64_t all_capabilities = (1ULL << names.size()) - 1;

struct Sets {
    std::uint64_t effective = 0;
    std::uint64_t permitted = 0;
    std::uint64_t inheritable = 0;
};

std::uint64_t parse_names(std::string_view list) {
    std::uint64_t mask = 0;
    while (!list.empty()) {
        const std::size_t comma = list.find(',');
        std::string name(list.substr(0, comma));
        list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
        for (char& c : name) {
            c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
        if (name == "all") {
            mask |= all_capabilities;
            continue;
        }
        std::optional<std::size_t> number;
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (name.starts_with("cap_") && name.substr(4) == names[i]) {
                number = i;
            }
        }
        if (!number) {
            throw error("unknown capability '{}'", name);
        }
        mask |= 1ULL << *number;
    }
    return mask;
}

void apply(std::uint64_t& set, bool chosen, char operation, std::uint64_t mask) {
    if (operation == '=') {
        set = chosen ? set | mask : set & ~mask;
    } else if (chosen) {
        set = operation == '+' ? set | mask : set & ~mask;
    }
}

void parse_clause(std::string_view clause, Sets& sets) {
    const std::size_t first = clause.find_first_of("=+-");
    if (first == std::string_view::npos) {
        throw error("'{}' is not a capability clause", clause);
    }
    // "=ep" without names means all, as in cap_from_text(3).
    const std::uint64_t mask = first == 0 ? all_capabilities : parse_names(clause.substr(0, first));
    for (std::size_t at = first; at < clause.size();) {
        const char operation = clause[at++];
        bool e = false;
        bool p = false;
        bool i = false;
        for (; at < clause.size() &&
               std::string_view("=+-").find(clause[at]) == std::string_view::npos;
             ++at) {
            e |= clause[at] == 'e';
            p |= clause[at] == 'p';
            i |= clause[at] == 'i';
            if (std::string_view("epi").find(clause[at]) == std::string_view::npos) {
                throw error("'{}' is not a capability clause", clause);
            }
        }
        apply(sets.effective, e, operation, mask);
        apply(sets.permitted, p, operation, mask);
        apply(sets.inheritable, i, operation, mask);
    }
}

void append_le32(std::string& raw, std::uint64_t value) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
        raw += static_cast<char>((value >> shift) & 0xffU);
    }
}

}  // namespace

std::string parse_capabilities(std::string_view text) {
    Sets sets;
    while (!text.empty()) {
        const std::size_t space = text.find_first_of(" \t\n");
        if (const std::string_view clause = text.substr(0, space); !clause.empty()) {
            parse_clause(clause, sets);
        }
        text = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
    }
    if ((sets.effective | sets.permitted | sets.inheritable) == 0) {
        return {};
    }
    // A file has one effective bit for all its capabilities.
    const bool effective = sets.effective != 0;
    std::string raw;
    append_le32(raw, VFS_CAP_REVISION_2 | (effective ? VFS_CAP_FLAGS_EFFECTIVE : 0U));
    for (const unsigned shift : {0U, 32U}) {
        append_le32(raw, sets.permitted >> shift);
        append_le32(raw, sets.inheritable >> shift);
    }
    return raw;
}

std::string without_namespace(std::string raw, std::string_view path) {
    // struct vfs_ns_cap_data of linux/capability.h: struct vfs_cap_data and a root id.
    std::uint32_t magic = 0;
    if (raw.size() < sizeof magic) {
        return raw;
    }
    std::memcpy(&magic, raw.data(), sizeof magic);
    magic = le32toh(magic);
    if ((magic & VFS_CAP_REVISION_MASK) != VFS_CAP_REVISION_3 || raw.size() != XATTR_CAPS_SZ_3) {
        return raw;
    }
    std::uint32_t root = 0;
    std::memcpy(&root, raw.data() + XATTR_CAPS_SZ_2, sizeof root);
    if (root != 0) {
        throw error("{} of the image: its capabilities are those of a user namespace", path)
            .hinted("a scriptlet of a package set them; leave the package out");
    }
    magic = htole32((magic & ~VFS_CAP_REVISION_MASK) | VFS_CAP_REVISION_2);
    std::memcpy(raw.data(), &magic, sizeof magic);
    raw.resize(XATTR_CAPS_SZ_2);
    return raw;
}

}  // namespace edgegpu
