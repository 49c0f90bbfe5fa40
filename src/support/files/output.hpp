#pragma once

#include <filesystem>
#include <string_view>

#include "support/error.hpp"
#include "support/handles.hpp"

namespace edgegpu {

/// Throws ErrorKind::usage if the file name has a control character: lists of files and digests
/// have a line for each.
void check_output_name(const std::filesystem::path& output);

/// The file that is replaced where a user names `path`: what a link leads to, which may not be
/// there yet. Whoever made the link has the file elsewhere, in version control for instance. Throws
/// ErrorKind::usage for what is no file, such as /dev/stdout, whose name would become one.
[[nodiscard]] std::filesystem::path replaced_file(std::filesystem::path path);

/// A directory `.FILE.unfinished-PID` beside an output FILE for what is not complete, removed at
/// the end. Its mode is 0700.
class Unfinished {
public:
    /// Removes what killed runs left of an output of this name first. Throws Error.
    explicit Unfinished(const std::filesystem::path& output);
    Unfinished(const Unfinished&) = delete;
    Unfinished& operator=(const Unfinished&) = delete;
    ~Unfinished();

    [[nodiscard]] std::filesystem::path file(std::string_view name) const { return path_ / name; }

private:
    std::filesystem::path path_;
    /// until the process ends, however it does
    Fd lock_;
};

/// Whether an error of disk_full or errno_error is about a full disk or an exceeded quota.
[[nodiscard]] bool is_disk_full(const Error& failure);

/// Replaces the hint of an error about a full disk by one for the user of --output, or of TMPDIR.
void hint_at_full_disk(Error& failure);

}  // namespace edgegpu
