#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "support/handles.hpp"

namespace edgegpu {

/// The names in an open directory, sorted, without "." and ".."; nothing, with the reason in errno,
/// if it cannot be read completely.
[[nodiscard]] std::optional<std::vector<std::string>> names_in(Fd directory);

/// The entries of a directory of the build machine, sorted by path, as far as it can be read; empty
/// if there is no such directory. Their types are cached in them.
[[nodiscard]] std::vector<std::filesystem::directory_entry> children_of(
    const std::filesystem::path& directory);

/// Where large temporary files belong: $TMPDIR, or /var/tmp. /tmp may be in memory.
[[nodiscard]] std::filesystem::path large_temporary_directory();

/// Where other temporary files belong: $TMPDIR, or /tmp. Throws ErrorKind::usage if that is not a
/// directory.
[[nodiscard]] std::filesystem::path temporary_directory();

/// A new directory of a name that nobody else has, removed at the end with everything in it. Its
/// process has it locked, and its sticky bit says that it is to be removed: those of the same
/// prefix whose processes were killed are removed when the next one is made.
class TemporaryDirectory {
public:
    /// Its path is `prefix` and a dot with six letters, its mode 01700; 0700 on a file system
    /// without locks. Throws Error.
    explicit TemporaryDirectory(const std::filesystem::path& prefix);
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    ~TemporaryDirectory();

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
    [[nodiscard]] std::filesystem::path operator/(const std::filesystem::path& name) const {
        return path_ / name;
    }
    /// Leaves it where it is, with mode 0700.
    void keep() noexcept;

private:
    std::filesystem::path path_;
    Fd lock_;
    bool kept_ = false;
};

/// What happens to a file that has the name already.
enum class Existing { refuse, replace };

/// Gives a finished file, or a directory with its files, its name on the same file system, and
/// returns when both are on the disk. Only a regular file is ever replaced. Throws Error naming
/// `path`: one that exists is an error of kind usage.
void publish(const std::filesystem::path& made, const std::filesystem::path& path,
             Existing existing);

}  // namespace edgegpu
