#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "blueprint/toml/mistakes.hpp"

namespace edgegpu {

/// "key = value"; continuation lines are appended to the value, each after a newline.
struct IniEntry {
    std::string key;
    std::string value;
    SourceLocation location;
};

/// "[id]" and its entries.
struct IniSection {
    std::string id;
    SourceLocation location;
    /// Unique by key: the last one of the file.
    std::vector<IniEntry> entries;
    /// A line of it is malformed: an entry that seems to be missing may be on that line.
    bool damaged = false;
};

/// Reads the INI dialect of dnf's .repo files as libdnf's iniparser does: "[id]" begins or
/// continues a section, "key = value" sets a key, lines that begin with white space continue the
/// value, lines that begin with '#' or ';' are comments. A byte order mark and CR LF are accepted.
/// Other lines are reported to `mistakes`.
[[nodiscard]] std::vector<IniSection> read_ini(const std::string& file, std::string_view content,
                                               Mistakes& mistakes);

/// A list separated by white space, newlines and commas.
[[nodiscard]] std::vector<std::string> as_list(const IniEntry& entry);

/// 1, yes, true, on or 0, no, false, off. Throws ErrorKind::usage for anything else.
[[nodiscard]] bool as_boolean(const IniEntry& entry);

/// An integer between 0 and 1000000. Throws ErrorKind::usage for anything else.
[[nodiscard]] int as_integer(const IniEntry& entry);

/// A single-line value. Throws ErrorKind::usage for several lines.
[[nodiscard]] std::string as_string(const IniEntry& entry);

}  // namespace edgegpu
