#pragma once

#include <array>
#include <string>
#include <string_view>

namespace edgegpu {

/// A directory that belongs to the device: images have it at `path`, where a commit has a link to
/// `target`.
struct MovedDirectory {
    std::string_view path;
    std::string_view target;
};

/// As rpm-ostree moves them.
inline constexpr std::array<MovedDirectory, 7> moved_directories{{{"/home", "/var/home"},
                                                                  {"/root", "/var/roothome"},
                                                                  {"/srv", "/var/srv"},
                                                                  {"/opt", "/var/opt"},
                                                                  {"/mnt", "/var/mnt"},
                                                                  {"/media", "/run/media"},
                                                                  {"/usr/local", "/var/usrlocal"}}};

/// What a commit may have in /, beside the mount points of volumes: on devices nothing is made
/// there.
inline constexpr std::array<std::string_view, 17> top_level_directories{
    "/boot", "/dev", "/etc", "/home", "/media",   "/mnt", "/opt", "/ostree", "/proc",
    "/root", "/run", "/srv", "/sys",  "/sysroot", "/tmp", "/usr", "/var"};
/// Links into /usr there.
inline constexpr std::array<std::string_view, 6> merged_directories{"/bin",   "/sbin",  "/lib",
                                                                    "/lib32", "/lib64", "/libx32"};

/// The path with such a link resolved: "/home/x" → "/var/home/x"; other paths are returned
/// unchanged.
[[nodiscard]] std::string deployed_path(std::string_view path);

/// Whether such a path is below /var, /run or /tmp, where devices make directories; elsewhere they
/// have those of the commit.
[[nodiscard]] bool is_path_of_device(std::string_view path);

}  // namespace edgegpu
