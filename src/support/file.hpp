#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace edgegpu {

/// The whole content of a file of at most `limit` bytes. Throws Error naming the path.
[[nodiscard]] std::string read_file(const std::filesystem::path& path,
                                    std::uint64_t limit = 1ULL << 30U);

/// The same of an open regular file, from its beginning; errors call it `name`.
[[nodiscard]] std::string read_file(int fd, const std::string& name,
                                    std::uint64_t limit = 1ULL << 30U);

/// Copies an open file's content from where it stands to another, inside the kernel where
/// possible. Errors call the target `name`.
void copy_content(int source, int target, const std::string& name);

/// Replaces `path` atomically (temporary file in the same directory, then rename) with
/// `content` and exactly the permission bits `mode`, whatever the umask. With `durable` the file is
/// synced before the rename. Throws Error naming the path; a partial file is never visible.
void write_file(const std::filesystem::path& path, std::string_view content, unsigned mode = 0644,
                bool durable = false);

/// Creates a directory and its parents with mode 0755. Throws Error naming the path.
void make_directories(const std::filesystem::path& path);

/// Deletes a tree, also where it holds read-only directories or is deeper than a path can be long.
/// No link is followed. No error if absent.
void remove_tree(const std::filesystem::path& path);
/// The same for `name`, one component, in the open directory `parent`; errors call it `shown`.
void remove_at(int parent, const std::string& name, const std::string& shown);

}  // namespace edgegpu
