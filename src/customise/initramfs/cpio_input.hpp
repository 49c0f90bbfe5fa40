#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <archive.h>

#include "support/handles.hpp"

namespace edgegpu {

/// The bytes of cpio archives, plain or compressed, from the first to the last. It allocates no
/// more than what `take` is asked for and a block of 64 KiB.
class CpioInput {
public:
    /// Reads `data` as it is if it begins like an archive in format newc, else what it decompresses
    /// to, with the compressor that its first bytes tell: gzip, zstd, xz, bzip2 or lz4, one of
    /// dracut's. Throws Error for anything else. `data` must outlive this.
    explicit CpioInput(std::string_view data);
    CpioInput(const CpioInput&) = delete;
    CpioInput& operator=(const CpioInput&) = delete;
    ~CpioInput() = default;

    [[nodiscard]] bool is_compressed() const noexcept { return archive_ != nullptr; }
    /// The next `size` bytes, valid until the next call, or fewer at the end of the input. Throws
    /// Error if the compressed data are damaged.
    [[nodiscard]] std::string_view take(std::size_t size);
    /// Passes over the next `size` bytes; false if there are not as many. Throws as `take`, and
    /// where compressed data unpack to more than 4 GiB.
    [[nodiscard]] bool skip(std::uint64_t size);
    /// Passes over zeros; the next byte is another one unless this is the end, for which it returns
    /// false.
    [[nodiscard]] bool skip_zeros();
    /// Bytes passed so far, unpacked.
    [[nodiscard]] std::uint64_t position() const noexcept { return position_; }

private:
    /// Unpacks some more to the end of `buffer_`; false at the end.
    bool unpack();
    /// Passes over `size` bytes that are there.
    void pass(std::size_t size) noexcept;

    /// what is known and not passed yet: all of plain data, or a part of `buffer_`
    std::string_view ahead_;
    std::string buffer_;
    /// null for plain data
    Handle<archive, archive_read_free> archive_;
    std::uint64_t position_ = 0;
};

}  // namespace edgegpu
