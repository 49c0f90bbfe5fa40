#include "support/files/foreign_access.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <grp.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <pwd.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "support/error.hpp"

namespace edgegpu {

namespace {

std::string name_of_group(gid_t group) {
    const struct group* entry = ::getgrgid(group);
    return entry != nullptr ? entry->gr_name : std::to_string(group);
}

/// Whether it is the group that useradd makes for each user: of the same name, without members.
bool is_private_group(gid_t group) {
    const struct passwd* user = ::getpwuid(::geteuid());
    const struct group* entry = ::getgrgid(group);
    return user != nullptr && entry != nullptr && user->pw_gid == group &&
           std::string_view(user->pw_name) == entry->gr_name && *entry->gr_mem == nullptr;
}

/// An access control list of a file, as the kernel gives it: entries behind a header. Empty if
/// there is none.
std::vector<posix_acl_xattr_entry> entries_of(const std::filesystem::path& path,
                                              const char* attribute) {
    std::string bytes;
    ssize_t size = 0;
    do {
        size = ::lgetxattr(path.c_str(), attribute, nullptr, 0);
        bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
        // With no room it would say the size again; a list may be replaced by a longer one.
        size = size <= 0 ? size : ::lgetxattr(path.c_str(), attribute, bytes.data(), bytes.size());
    } while (size < 0 && errno == ERANGE);
    if (size < 0 && errno != ENODATA && errno != EOPNOTSUPP && errno != ENOENT) {
        throw error("{}: cannot read the access control list: {}", path.string(),
                    std::strerror(errno));
    }
    std::vector<posix_acl_xattr_entry> entries;
    for (std::size_t at = sizeof(posix_acl_xattr_header);
         size > 0 && at + sizeof(posix_acl_xattr_entry) <= static_cast<std::size_t>(size);
         at += sizeof(posix_acl_xattr_entry)) {
        std::memcpy(&entries.emplace_back(), bytes.data() + at, sizeof(posix_acl_xattr_entry));
    }
    return entries;
}

/// Who may write by a list, if there is one. A default list is for what is made in a directory: the
/// permissions of the group and of others are then those that the maker asks for, at most.
std::optional<OtherWriters> writers_of_list(const std::filesystem::path& path,
                                            const char* attribute) {
    const std::vector<posix_acl_xattr_entry> entries = entries_of(path, attribute);
    if (entries.empty()) {
        return std::nullopt;
    }
    unsigned most = ACL_WRITE;
    bool named = false;
    bool group = false;
    for (const posix_acl_xattr_entry& entry : entries) {
        const bool writes = (entry.e_perm & ACL_WRITE) != 0;
        most = entry.e_tag == ACL_MASK ? entry.e_perm & ACL_WRITE : most;
        named = named || (writes && (entry.e_tag == ACL_USER || entry.e_tag == ACL_GROUP));
        group = group || (writes && entry.e_tag == ACL_GROUP_OBJ);
    }
    if (most == 0 || !(named || group)) {
        return OtherWriters::none;
    }
    return named ? OtherWriters::listed : OtherWriters::group;
}

}  // namespace

OtherWriters other_writers(const std::filesystem::path& path, const struct stat& status) {
    if (S_ISLNK(status.st_mode)) {
        return OtherWriters::none;  // It has no permissions.
    }
    if ((status.st_mode & S_IWOTH) != 0) {
        return OtherWriters::everybody;
    }
    if (S_ISDIR(status.st_mode) &&
        writers_of_list(path, "system.posix_acl_default") == OtherWriters::listed) {
        return OtherWriters::listed;
    }
    if ((status.st_mode & S_IWGRP) == 0) {
        return OtherWriters::none;
    }
    return writers_of_list(path, "system.posix_acl_access").value_or(OtherWriters::group);
}

std::string foreign_access(const std::filesystem::path& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) {
        return {};
    }
    if (status.st_uid != ::geteuid()) {
        return "belongs to " + name_of_user(status.st_uid);
    }
    switch (other_writers(path, status)) {
        case OtherWriters::none:
            return {};
        case OtherWriters::everybody:
            return "can be written by everybody";
        case OtherWriters::listed:
            return "can be written by whom its access control list names";
        case OtherWriters::group:
            break;
    }
    return is_private_group(status.st_gid)
               ? std::string()
               : "can be written by group " + name_of_group(status.st_gid);
}

std::string name_of_user(uid_t user) {
    const struct passwd* entry = ::getpwuid(user);
    return entry != nullptr ? entry->pw_name : fmt::format("the user with id {}", user);
}

}  // namespace edgegpu
