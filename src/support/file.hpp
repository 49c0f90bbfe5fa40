#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace edgegpu {

/// The whole content of a file of at most `limit` bytes. Throws Error naming the path.
[[nodiscard]] std::string read_file(const std::filesystem::path& path,
                                    std::uint64_t limit = 1ULL << 30U);

/// Replaces `path` atomically (temporary file in the same directory, then rename) with
/// `content` and exactly the permission bits `mode`, whatever the umask. With `durable` the file is
/// synced before the rename. Throws Error naming the path; a partial file is never visible.
void write_file(const std::filesystem::path& path, std::string_view content, unsigned mode = 0644,
                bool durable = false);

/// Creates a directory and its parents with mode 0755. Throws Error naming the path.
void make_directories(const std::filesystem::path& path);

/// Deletes a tree, also where it holds read-only directories. No error if absent.
void remove_tree(const std::filesystem::path& path);

}  // namespace edgegpu
