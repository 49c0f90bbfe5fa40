#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "support/files/checksum.hpp"
#include "support/handles.hpp"

namespace edgegpu {

/// Expected size and checksum of a file, as far as known before it is transferred.
struct Promise {
    /// Bytes; 0: unknown.
    std::uint64_t size = 0;
    /// Maximum number of bytes if `size` is unknown.
    std::uint64_t limit = std::uint64_t{1} << 30U;
    std::optional<Checksum> checksum;
    /// Source of size and checksum, for messages: "repomd.xml".
    std::string promiser = "the repository";

    /// Maximum number of bytes that are written.
    [[nodiscard]] std::uint64_t most() const { return size != 0 ? size : limit; }
};

/// A partially transferred file, `DESTINATION.part`. The part of an earlier run is continued if a
/// checksum is known that can verify the whole file. The part is locked: a second transfer of the
/// same file, in this process or another, uses a part of its own.
class PartFile {
public:
    /// `promise` must outlive this object. Throws Error naming the path.
    PartFile(std::filesystem::path destination, const Promise& promise);
    PartFile(const PartFile&) = delete;
    PartFile& operator=(const PartFile&) = delete;
    /// Keeps the part if a later run can continue it, else deletes it.
    ~PartFile();

    /// Bytes of the part.
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    /// Path of the part.
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
    /// Truncates the part. Throws Error naming the path.
    void restart();
    /// Appends, or returns false and does nothing if the part would exceed `Promise::most`. Throws
    /// Error naming the path, for example if the disk is full.
    [[nodiscard]] bool append(const char* data, std::size_t size);
    /// How the part differs from the expected size or checksum ("has 3 bytes, but …"); empty if it
    /// does not. Finishes the digest: call it at most once between two calls of `restart`.
    [[nodiscard]] std::string mismatch();
    /// Renames the part to its destination. Throws Error naming the path.
    void complete();

private:
    void open();
    void read_on();

    std::filesystem::path destination_;
    const Promise& promise_;
    std::filesystem::path path_;
    Fd fd_;
    std::uint64_t size_ = 0;
    std::optional<Digester> digester_;
};

}  // namespace edgegpu
