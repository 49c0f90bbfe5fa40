#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace edgegpu {

/// dnf's module specification, NAME[:STREAM[:VERSION[:CONTEXT]]][::ARCH][/PROFILE]. Every part may
/// be a glob; an omitted part is empty and matches anything.
struct ModuleSpec {
    std::string name;
    std::string stream;
    std::string version;
    std::string context;
    std::string arch;
    std::string profile;

    /// Whether name and stream are given, and neither is a glob.
    [[nodiscard]] bool exact() const;
};

/// Parses "nodejs:18/minimal", without the "@" of requests; nothing if dnf would not take it for a
/// module.
[[nodiscard]] std::optional<ModuleSpec> parse_module_spec(std::string_view text);

/// Whether `glob` (fnmatch(3); empty: anything) matches `text`.
[[nodiscard]] bool glob_or_any(const std::string& glob, const std::string& text);

}  // namespace edgegpu
