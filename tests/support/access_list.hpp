#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include <sys/xattr.h>

namespace edgegpu::test {

/// Gives a file or directory an access control list of the kind "access" or "default", in which the
/// owner may do everything and others may read. The permissions (rwx: 4, 2, 1) are those of the
/// user with id 1, of the mask and of the file's group. False where there are no such lists.
inline bool set_access_list(const std::filesystem::path& path, const std::string& kind,
                            std::uint16_t user, std::uint16_t mask, std::uint16_t group) {
    // linux/posix_acl_xattr.h, linux/posix_acl.h
    struct {
        std::uint32_t version = 2;
        struct {
            std::uint16_t tag, permissions;
            std::uint32_t id;
        } entries[5];
    } list{2, {{1, 7, ~0U}, {2, user, 1}, {4, group, ~0U}, {16, mask, ~0U}, {32, 5, ~0U}}};
    return ::setxattr(path.c_str(), ("system.posix_acl_" + kind).c_str(), &list, sizeof list, 0) ==
           0;
}

}  // namespace edgegpu::test
