#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "support/files/file.hpp"
#include "support/files/unpack_limit.hpp"
#include "support/handles.hpp"

namespace edgegpu {

/// What an RPM of `size` bytes may unpack to: 500 times as much, and 64 MiB. Of 66,000 packages of
/// a distribution with more than 16 MiB, none has more than 250 times its size; a compressor makes
/// 30,000 times as much of a file of zeros.
[[nodiscard]] UnpackLimit most_in_package(std::uint64_t size);

/// An RPM file, open from the computation of its digest until it is in the package database. It is
/// never opened again by its path, where another file may have been put since.
class PackageContent {
public:
    /// Opens the file at `path`, which messages call `shown`. Throws Error for anything but a
    /// regular file; does not block on a FIFO.
    PackageContent(const std::filesystem::path& path, std::string shown);
    explicit PackageContent(const std::filesystem::path& path)
        : PackageContent(path, path.string()) {}

    [[nodiscard]] int descriptor() const noexcept { return file_.get(); }
    /// A path in /proc that opens the same file, with an offset of its own.
    [[nodiscard]] std::filesystem::path path() const { return path_of_descriptor(file_.get()); }
    /// Origin of the file, for messages.
    [[nodiscard]] const std::string& shown() const noexcept { return shown_; }
    /// Bytes, as of opening the file.
    [[nodiscard]] std::uint64_t size() const noexcept { return state_.size; }

    /// To be called after renaming the file, which updates its change time. Throws Error if size or
    /// modification time changed as well.
    void renamed();
    /// Throws Error if the content may have changed since the file was opened: if its state differs
    /// (which also happens if it was unlinked, or a backup linked it) and its digest is not
    /// `sha256`.
    void require_unchanged(const std::string& sha256) const;

private:
    Fd file_;
    std::string shown_;
    FileState state_;
};

}  // namespace edgegpu
