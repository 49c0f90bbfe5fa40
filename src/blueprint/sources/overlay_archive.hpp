#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace edgegpu {

/// One member of a tar archive, as it stands there.
struct TarMember {
    std::string name;
    /// S_IFMT of its mode
    unsigned type = 0;
    unsigned mode = 0;
    std::uint64_t size = 0;
    /// symbolic links
    std::string target;
    /// name of the member it is a hard link to, or empty
    std::string linked;
    bool has_capabilities = false;
};

/// A tar archive (ustar, pax, GNU; plain or compressed with gzip, xz, zstd or bzip2), read once
/// from its beginning with libarchive. Throws ErrorKind::usage naming the archive and the member
/// for one that is damaged, cut short, or no such archive.
class TarReader {
public:
    /// `called` is how messages name the archive.
    TarReader(const std::filesystem::path& path, std::string called);
    TarReader(TarReader&&) noexcept;
    TarReader& operator=(TarReader&&) noexcept;
    ~TarReader();

    /// The next member; false after the last.
    [[nodiscard]] bool next(TarMember& member);
    /// Reads the content of the member that `next` gave, and gives it to `use` in pieces.
    void read(const std::function<void(const char*, std::size_t)>& use);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace edgegpu
