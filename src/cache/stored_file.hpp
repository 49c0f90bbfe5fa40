#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "execution/context.hpp"

namespace edgegpu {

/// A file as it was when it was read: a copy in the cache that nobody else writes to, with digest
/// and size of exactly the bytes that were copied.
struct StoredFile {
    /// `content_path` of the digest
    std::filesystem::path path;
    /// SHA-256 of the copy
    std::string digest;
    std::uint64_t size = 0;
};

/// Where content with this SHA-256 is in the cache: `content/ab/cdef…`.
[[nodiscard]] std::filesystem::path content_path(const Context& ctx, const std::string& digest);

/// Copies the content of an open regular file into the cache, unless it is there already. The
/// digest is that of the stored bytes, whatever happens to the file meanwhile. The file's position
/// is neither used nor changed; memory: 1 MiB; thread-safe. Throws Error, calling the file `name`,
/// if it is not regular, or was written to while it was read: what was stored would then be neither
/// its old content nor its new one.
[[nodiscard]] StoredFile store_file(const Context& ctx, int file, const std::string& name);

/// The same for a file by its path, whose last component must not be a link. Only a regular file is
/// opened, so that it never waits for a fifo.
[[nodiscard]] StoredFile store_file(const Context& ctx, const std::filesystem::path& path);

}  // namespace edgegpu
