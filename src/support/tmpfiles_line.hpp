#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace edgegpu {

/// A line of tmpfiles.d(5), without quotes and escapes. Specifiers stay as they are; fields that
/// the line does not have are empty.
struct TmpfilesLine {
    std::string type;
    std::string path;
    std::string mode;
    std::string user;
    std::string group;
    std::string age;
    std::string argument;
    /// What follows the path, as the line has it: a view into it.
    std::string_view rest;
};

/// Nothing for comments and lines without a path.
[[nodiscard]] std::optional<TmpfilesLine> parse_tmpfiles_line(std::string_view line);

/// A path or argument with its specifiers resolved; nothing if it has another one than "%%".
[[nodiscard]] std::optional<std::string> without_specifiers(std::string_view text);

/// A path as a field of such a line, in quotation marks where it needs them; its percent signs are
/// specifiers. systemd before 254 knows no other escapes there. Throws Error for the ends of lines,
/// which no field can have.
[[nodiscard]] std::string tmpfiles_field(std::string_view path);

/// The same for a path that has no specifiers.
[[nodiscard]] std::string tmpfiles_path(std::string_view path);

/// A path without specifiers as the argument of such a line (of C and L), where systemd takes
/// escapes, and quotation marks as they are.
[[nodiscard]] std::string tmpfiles_argument(std::string_view path);

}  // namespace edgegpu
