#pragma once

#include <filesystem>
#include <string>

#include "support/file.hpp"
#include "support/handles.hpp"

namespace edgegpu {

/// The bytes of an RPM, held by one descriptor from the computation of its digest to the package
/// database: nothing is opened again by its path, which may lead elsewhere by then.
class PackageContent {
public:
    /// Opens the file at `path`; messages call it `shown`. Throws Error for anything but a regular
    /// file, without waiting for it.
    PackageContent(const std::filesystem::path& path, std::string shown);
    explicit PackageContent(const std::filesystem::path& path)
        : PackageContent(path, path.string()) {}

    [[nodiscard]] int descriptor() const noexcept { return file_.get(); }
    /// Where these bytes can be opened again, each time with a position of its own.
    [[nodiscard]] std::filesystem::path path() const { return path_of_descriptor(file_.get()); }
    /// Where they came from, for messages.
    [[nodiscard]] const std::string& shown() const noexcept { return shown_; }
    /// When the file was opened.
    [[nodiscard]] std::uint64_t size() const noexcept { return state_.size; }

    /// Notes that the file was given another name, which is a change of it as well. Throws Error
    /// where its content changed.
    void renamed();
    /// Throws Error unless the file holds what it did when it was opened: the state tells that, or,
    /// where the state is another one (the file was removed, a backup linked it), `sha256`. What
    /// was read since then was the same for everybody.
    void require_unchanged(const std::string& sha256) const;

private:
    Fd file_;
    std::string shown_;
    FileState state_;
};

}  // namespace edgegpu
