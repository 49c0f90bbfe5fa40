#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "support/context.hpp"

namespace edgegpu {

/// A file as it was when it was read: a copy in the cache that nobody else writes to, with what was
/// computed of the very bytes that were copied.
struct StoredFile {
    /// `content_path` of the digest
    std::filesystem::path path;
    /// SHA-256 of the copy
    std::string digest;
    std::uint64_t size = 0;
};

/// Where content of that SHA-256 lies in the cache: `content/ab/cdef…`.
[[nodiscard]] std::filesystem::path content_path(const Context& ctx, const std::string& digest);

/// Copies the content of an open regular file into the cache, unless it is there already. The
/// digest is that of what was stored, whatever happens to the file meanwhile. Its position is
/// neither used nor changed; memory: 1 MiB. Many threads may call it at once. Throws Error, calling
/// the file `name`, if it is not regular, or was written to while it was read: neither its old
/// content nor its new one would be what was stored.
[[nodiscard]] StoredFile store_file(const Context& ctx, int file, const std::string& name);

/// The same for a file by its path, whose last part may be no link. Nothing else than a regular
/// file is opened: no fifo is waited for.
[[nodiscard]] StoredFile store_file(const Context& ctx, const std::filesystem::path& path);

}  // namespace edgegpu
