#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "support/handles.hpp"

namespace edgegpu {

/// Opens a file for reading, whose descriptor programs do not inherit. Throws Error naming the
/// path.
[[nodiscard]] Fd open_to_read(const std::filesystem::path& path);
/// The same with other flags; O_CLOEXEC is added.
[[nodiscard]] Fd open_file(const std::filesystem::path& path, int flags, mode_t mode = 0);

/// pread(2) until there are `size` bytes, whatever interrupts it. How many there are, fewer only at
/// the end of the file; -1, with errno, if that is not possible.
[[nodiscard]] ssize_t read_at(int file, char* data, std::size_t size,
                              std::uint64_t offset) noexcept;

/// pwrite(2) until all of `data` is written, whatever interrupts it. False, with errno, if that is
/// not possible; part of the data may have been written then.
[[nodiscard]] bool write_at(int file, std::string_view data, std::uint64_t offset) noexcept;

/// Bytes of a file: at most `size`, from `offset` on.
struct FileRange {
    std::uint64_t offset = 0;
    std::uint64_t size = UINT64_MAX;
};

/// Gives a part of an open regular file to `take`, in pieces of 256 KiB (the last one may be
/// shorter), up to its end. Returns how many bytes there were. Errors call the file `name`.
std::uint64_t each_piece(int file, const std::string& name,
                         const std::function<void(std::string_view)>& take, FileRange range = {});

}  // namespace edgegpu
