#pragma once

#include <string_view>

namespace edgegpu {

/// What the program that reads a file insists on, or what whoever must not read it should not see.
struct PathMode {
    /// Pattern of paths in the image, as PathGlob.
    std::string_view pattern;
    /// Permission bits of a file for which nobody sets any.
    unsigned mode = 0;
    /// Permission bits that a file must not have, and those that it must have.
    unsigned refused = 0;
    unsigned required = 0;
    /// The file must be root's.
    bool root_only = false;
    /// A sentence without its end: "NetworkManager ignores connections that others can read".
    std::string_view reason;
    /// Executable files that have a script's name are programs, for which this says nothing.
    bool scripts = false;
};

/// The row for a file at this path of the image; null if its reader takes any mode.
[[nodiscard]] const PathMode* find_path_mode(std::string_view path);

/// Why its reader would not accept a file with these permission bits; empty if it would.
[[nodiscard]] std::string_view mode_fault(std::string_view path, unsigned mode);

/// Permission bits of a file for which nobody sets any: those of its row, else 0600 for one that
/// has a secret (`[[allow_secrets]]`), else 0755 for programs, 0644 for others. Neither git nor
/// every umask keeps more of a mode than whether the file is executable.
[[nodiscard]] unsigned usual_mode(std::string_view path, bool executable, bool secret);

}  // namespace edgegpu
