#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace edgegpu {

/// dnf's way to name documents of a module: NAME[:STREAM[:VERSION[:CONTEXT]]][::ARCH][/PROFILE].
/// Every part may be a glob; what is left out is empty and matches all.
struct ModuleSpec {
    std::string name;
    std::string stream;
    std::string version;
    std::string context;
    std::string arch;
    std::string profile;

    /// Name and stream are given, and neither is a glob.
    [[nodiscard]] bool exact() const;
};

/// Reads "nodejs:18/minimal", without the "@" of requests; nothing where dnf would see no module in
/// it.
[[nodiscard]] std::optional<ModuleSpec> parse_module_spec(std::string_view text);

/// Whether `glob` (fnmatch(3); empty: anything) matches `text`.
[[nodiscard]] bool glob_or_any(const std::string& glob, const std::string& text);

}  // namespace edgegpu
