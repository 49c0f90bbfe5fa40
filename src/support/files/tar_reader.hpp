#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <string>

#include "support/error.hpp"
#include "support/files/unpack_limit.hpp"

namespace edgegpu {

/// One member of a tar archive, unchecked.
struct TarMember {
    std::string name;
    /// File type, as in S_IFMT.
    unsigned type = 0;
    unsigned mode = 0;
    std::uint64_t size = 0;
    /// Symbolic links: the target.
    std::string target;
    /// Hard links: name of the member that it links to; else empty.
    std::string linked;
    /// Raw value of security.capability, or empty.
    std::string capabilities;
    /// Negative numbers of the archive are larger than any that Linux has.
    std::uint64_t uid = 0;
    std::uint64_t gid = 0;
    /// When it was last changed, Unix time.
    std::int64_t modified = 0;
};

/// An archive to be read.
struct TarFile {
    std::filesystem::path path;
    /// what messages call it
    std::string called;
    std::string hint;
    ErrorKind kind = ErrorKind::usage;
    /// of the archive, decompressed
    UnpackLimit limit = std::numeric_limits<std::uint64_t>::max();
    /// Whether nothing at all is an archive without members.
    bool may_be_empty = false;
};

/// Reads a tar archive (ustar, pax, GNU; plain, or compressed once with gzip, xz, zstd or bzip2)
/// sequentially. Throws Error naming archive and member if it is corrupt, truncated, of another
/// format, or exceeds its limit.
class TarReader {
public:
    explicit TarReader(TarFile file);
    TarReader(TarReader&&) noexcept;
    TarReader& operator=(TarReader&&) noexcept;
    ~TarReader();

    /// The next member; false after the last.
    [[nodiscard]] bool next(TarMember& member);
    /// Reads the content of the current member and passes it to `use` in pieces.
    void read(const std::function<void(const char*, std::size_t)>& use);
    /// Reads what is left, with whatever follows the end of the archive. Returns the SHA-256 of the
    /// whole archive, decompressed.
    [[nodiscard]] std::string finish();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace edgegpu
