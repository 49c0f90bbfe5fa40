#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace edgegpu::gpu_health {

/// What reading a file gave.
struct Reading {
    std::string content;
    /// errno; 0: it was read. EINVAL: it is no regular file; EFBIG: it is larger than the limit.
    int error = 0;
    [[nodiscard]] bool good() const noexcept { return error == 0; }
    /// errno's text, or what the two above mean.
    [[nodiscard]] std::string why() const;
};

inline constexpr std::size_t small_file = std::size_t{1} << 20U;

/// The path in the directory `root` that `inside` leads to when `root` is "/": absolute links begin
/// at `root`, and ".." does not leave it, so that trees stand in for machines. The result has no
/// link in it; a part that does not exist is kept as it is. Empty: links in a circle.
[[nodiscard]] std::filesystem::path resolve(const std::filesystem::path& root,
                                            std::string_view inside);

/// Reads a regular file by its path in `root`, at most `limit` bytes. Never waits: a FIFO or a
/// device in its place is not opened.
[[nodiscard]] Reading read_file(const std::filesystem::path& root, std::string_view inside,
                                std::size_t limit = small_file);

/// Its first bytes, at most `count`: larger files are no error.
[[nodiscard]] Reading read_start(const std::filesystem::path& root, std::string_view inside,
                                 std::size_t count);

/// The first line of a small file, without blanks at both ends; empty if it cannot be read.
[[nodiscard]] std::string read_line(const std::filesystem::path& root, std::string_view inside);

/// The file's status, links followed in `root`; false: it is not there.
[[nodiscard]] bool find_status(const std::filesystem::path& root, std::string_view inside,
                               struct stat& status);
[[nodiscard]] bool is_there(const std::filesystem::path& root, std::string_view inside);

/// Names in a directory, sorted, at most 10,000; none if it cannot be read.
[[nodiscard]] std::vector<std::string> names_in(const std::filesystem::path& root,
                                                std::string_view inside);

/// The last part of what a link names; empty: it is no link.
[[nodiscard]] std::string link_name(const std::filesystem::path& root, std::string_view inside);

}  // namespace edgegpu::gpu_health
