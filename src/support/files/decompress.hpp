#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <archive.h>

#include "support/error.hpp"
#include "support/files/unpack_limit.hpp"
#include "support/handles.hpp"

namespace edgegpu {

/// Reads content piece by piece, decompressed if it is compressed with gzip, xz, zstd or bzip2; any
/// other content as it is. Several members (gzip, bzip2), streams (xz) or frames (zstd) are one
/// content. What is compressed several times is decompressed once: the outer layers of a file of
/// some kilobytes can keep a processor busy for days without any output that a limit could stop.
class Decompressor {
public:
    /// Reads the file that `file` is open at, from its beginning. Throws Error of `kind`, calling
    /// the file `name`, if it cannot be read, or is damaged at its beginning. Its decompressed
    /// content may be as large as `limit`.
    Decompressor(Fd file, UnpackLimit limit, std::string name, ErrorKind kind = ErrorKind::failure);
    /// The same for a content in memory, which must outlive this.
    Decompressor(std::string_view content, UnpackLimit limit, std::string name,
                 ErrorKind kind = ErrorKind::failure);

    /// Reads up to `buffer.size()` bytes and returns their number, 0 at the end. Throws Error if
    /// the content is damaged or truncated, or exceeds the limit; then it must not be called again.
    [[nodiscard]] std::size_t read(std::span<char> buffer);

private:
    using Reader = Handle<archive, archive_read_free>;

    void start(std::string_view head);
    void open(archive* reader) const;
    void check_empty(int filter) const;
    void require(bool good, archive* reader) const;

    Fd file_;
    std::string_view content_;
    UnpackLimit limit_;
    std::string name_;
    ErrorKind kind_;
    std::uint64_t total_ = 0;
    bool at_end_ = false;
    Reader reader_;
};

/// The decompressed content of a file whose content is in memory; throws as Decompressor does.
[[nodiscard]] std::string decompress(std::string_view content, const UnpackLimit& limit,
                                     const std::string& name, ErrorKind kind = ErrorKind::failure);

}  // namespace edgegpu
