#include "support/foreign_access.hpp"

#include <string_view>

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace edgegpu {

namespace {

std::string name_of_user(uid_t user) {
    const struct passwd* entry = ::getpwuid(user);
    return entry != nullptr ? entry->pw_name : fmt::format("the user with id {}", user);
}

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

/// With a list, the group's permissions are the most that any group or user of the list has.
bool has_access_list(const std::filesystem::path& path) {
    return ::lgetxattr(path.c_str(), "system.posix_acl_access", nullptr, 0) > 0;
}

}  // namespace

std::string foreign_access(const std::filesystem::path& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) {
        return {};
    }
    if (status.st_uid != ::geteuid()) {
        return "belongs to " + name_of_user(status.st_uid);
    }
    if (S_ISLNK(status.st_mode)) {
        return {};  // It has no permissions.
    }
    if ((status.st_mode & S_IWOTH) != 0) {
        return "can be written by everybody";
    }
    if ((status.st_mode & S_IWGRP) == 0) {
        return {};
    }
    if (has_access_list(path)) {
        return "can be written by whom its access control list names";
    }
    return is_private_group(status.st_gid)
               ? std::string()
               : "can be written by group " + name_of_group(status.st_gid);
}

}  // namespace edgegpu
