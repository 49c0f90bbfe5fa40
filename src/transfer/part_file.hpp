#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "support/checksum.hpp"
#include "support/handles.hpp"

namespace edgegpu {

/// What is known of a file before it is transferred.
struct Promise {
    /// Bytes; 0: not known.
    std::uint64_t size = 0;
    /// Most bytes that are taken where `size` is not known.
    std::uint64_t limit = std::uint64_t{1} << 30U;
    std::optional<Checksum> checksum;
    /// Who says so, for messages: "repomd.xml".
    std::string promiser = "the repository";

    /// The hard limit of what is written.
    [[nodiscard]] std::uint64_t most() const { return size != 0 ? size : limit; }
};

/// A file on its way: `DESTINATION.part`, continued where an earlier run left it if there is a
/// checksum to tell whether the whole is right. Two that want the same file, of one process or not,
/// do not write to the same part.
class PartFile {
public:
    /// Throws Error naming the path.
    PartFile(std::filesystem::path destination, const Promise& promise);
    PartFile(const PartFile&) = delete;
    PartFile& operator=(const PartFile&) = delete;
    /// Leaves the part to be continued, unless it cannot be.
    ~PartFile();

    /// Bytes so far.
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    /// The part itself.
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
    /// Begins again with nothing. Throws Error naming the path.
    void restart();
    /// Appends, or does nothing and returns false if that were more than was promised. Throws Error
    /// naming the path, where the disk is full for example.
    [[nodiscard]] bool append(const char* data, std::size_t size);
    /// What of the promise does not hold for the bytes so far ("has 3 bytes, but …"); empty: all is
    /// well. To be asked once between two calls of `restart`.
    [[nodiscard]] std::string mismatch();
    /// Gives the part its name. Throws Error naming the path.
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
