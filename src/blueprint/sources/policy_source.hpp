#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "blueprint/blueprint.hpp"

namespace edgegpu {

/// A macro in the source of a policy module: an interface, a template, a set of permissions, …
struct PolicyMacro {
    /// 1-based
    unsigned line = 0;
    std::string name;
};

/// The first word of a `.te` that the plain policy language does not know and the reference
/// policy's macros (m4) have to explain: "policy_module(", "rw_chr_file_perms", m4's quotes.
[[nodiscard]] std::optional<PolicyMacro> find_policy_macro(std::string_view source);

/// The first line of a `.fc` that is more than a comment or a file context; `gen_context` alone
/// is none.
[[nodiscard]] std::optional<PolicyMacro> find_context_macro(std::string_view contexts);

/// A file beside a module's `.te`, of the same stem: "x.te", ".fc" → "x.fc".
[[nodiscard]] std::filesystem::path beside_module(const std::filesystem::path& module,
                                                  std::string_view extension);

/// The files that make a module: its own and, of a `.te`, those of `.fc` and `.if` beside it that
/// there are.
[[nodiscard]] std::vector<std::filesystem::path> files_of_module(
    const std::filesystem::path& module);

/// Why compiling a module takes the interfaces of the image's own selinux-policy-devel: the first
/// macro of its `.te` or of the `.fc` beside it, and the file. Nothing for a plain `.te`, and for
/// modules that come compiled. Throws Error where a file cannot be read.
struct InterfaceNeed {
    std::filesystem::path file;
    PolicyMacro macro;
};
[[nodiscard]] std::optional<InterfaceNeed> needs_interfaces(const std::filesystem::path& module);

/// The first such need of these modules.
[[nodiscard]] std::optional<InterfaceNeed> needs_interfaces(
    const std::vector<std::filesystem::path>& modules);

/// A line of a `.fc`.
struct FileContextLine {
    /// 1-based
    unsigned line = 0;
    /// a regular expression over whole paths
    std::string pattern;
    /// "--", "-d", "-c", …, or empty: any type
    std::string type;
    /// "user:role:type" or "<<none>>"
    std::string context;
    /// "s0" or "s0:c1.c5"; empty where the line names none
    std::string level;

    /// The line as semodule_package takes it. `mls`: the policy has levels.
    [[nodiscard]] std::string text(bool mls) const;
};

/// Reads a `.fc` (file_contexts(5), with or without gen_context). Lines with other macros, and the
/// quotes that belong to them, are passed over. semodule_package takes any text, and semodule names
/// neither file nor line: so they are checked here. Throws ErrorKind::usage "SHOWN:3: …" for a
/// regular expression that PCRE refuses, an unknown file type, and a malformed context.
[[nodiscard]] std::vector<FileContextLine> read_file_contexts(std::string_view text,
                                                              const std::string& shown);

/// The path as a user would name it: relative to the current directory where it is below it, and
/// the user's own where it is that of a copy which the build took (`path_of_user`).
[[nodiscard]] std::string display_path(const std::filesystem::path& path);

/// Everything about a module's files that can be known without the image: contexts, and that
/// `.pp`, `.pp.bz2` and `.cil` are what their names say. Throws ErrorKind::usage naming the file.
void check_policy_module(const std::filesystem::path& module);

/// The shipped module for policies whose boolean lacks `map`.
inline constexpr const char* map_module = "nvidia-container-microshift";

/// The source of the module for policies whose boolean lacks `map`, as shipped, or the build's copy
/// of it.
[[nodiscard]] std::filesystem::path map_module_source(const Blueprint& blueprint);

}  // namespace edgegpu
