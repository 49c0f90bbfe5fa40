#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

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
    std::uint64_t uid = 0;
    std::uint64_t gid = 0;
};

/// Reads a tar archive (ustar, pax, GNU; plain or compressed with gzip, xz, zstd or bzip2)
/// sequentially. Throws ErrorKind::usage naming archive and member if it is corrupt, truncated, or
/// of another format.
class TarReader {
public:
    /// Messages call the archive `called`, and give `hint`.
    TarReader(const std::filesystem::path& path, std::string called, std::string hint);
    TarReader(TarReader&&) noexcept;
    TarReader& operator=(TarReader&&) noexcept;
    ~TarReader();

    /// The next member; false after the last.
    [[nodiscard]] bool next(TarMember& member);
    /// Reads the content of the current member and passes it to `use` in pieces.
    void read(const std::function<void(const char*, std::size_t)>& use);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace edgegpu
