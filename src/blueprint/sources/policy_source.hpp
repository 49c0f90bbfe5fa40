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

/// The first word of a `.te` that is not part of the plain policy language but a macro (m4) of the
/// reference policy: "policy_module(", "rw_chr_file_perms", m4's quotes.
[[nodiscard]] std::optional<PolicyMacro> find_policy_macro(std::string_view source);

/// The first macro of a `.fc` on a line that is neither a comment nor a file context; `gen_context`
/// in a file context does not count.
[[nodiscard]] std::optional<PolicyMacro> find_context_macro(std::string_view contexts);

/// The name of the module in a file "/x/NAME.te", "NAME.cil", "NAME.pp" or "NAME.pp.bz2".
[[nodiscard]] std::string policy_module_name(const std::filesystem::path& file);

/// The file with the same stem beside a module's `.te`: "x.te", ".fc" → "x.fc".
[[nodiscard]] std::filesystem::path beside_module(const std::filesystem::path& module,
                                                  std::string_view extension);

/// The files of a module: the module itself, and for a `.te` the existing `.fc` and `.if` beside
/// it.
[[nodiscard]] std::vector<std::filesystem::path> files_of_module(
    const std::filesystem::path& module);

/// Why a module can only be compiled with the interfaces of the image's selinux-policy-devel: the
/// first macro of its `.te` or `.fc`, and the file.
struct InterfaceNeed {
    std::filesystem::path file;
    PolicyMacro macro;
};
/// The need of this module; nothing for a `.te` without macros and for other kinds of modules.
/// Throws Error if a file cannot be read.
[[nodiscard]] std::optional<InterfaceNeed> needs_interfaces(const std::filesystem::path& module);

/// The first such need among these modules.
[[nodiscard]] std::optional<InterfaceNeed> needs_interfaces(
    const std::vector<std::filesystem::path>& modules);

/// A line of a `.fc`.
struct FileContextLine {
    /// 1-based
    unsigned line = 0;
    /// A regular expression for whole paths.
    std::string pattern;
    /// "--", "-d", "-c", …; empty: any type.
    std::string type;
    /// "user:role:type" or "<<none>>".
    std::string context;
    /// "s0" or "s0:c1.c5"; empty if the line has none.
    std::string level;

    /// The line in semodule_package's format. `mls`: the policy has levels.
    [[nodiscard]] std::string text(bool mls) const;
};

/// Reads a `.fc` (file_contexts(5), with or without gen_context). Lines with other macros or their
/// quotes are skipped. The lines are checked here because semodule_package accepts any text, and
/// semodule reports neither file nor line. Throws ErrorKind::usage "SHOWN:3: …" for an invalid
/// regular expression, an unknown file type, or a malformed context.
[[nodiscard]] std::vector<FileContextLine> read_file_contexts(std::string_view text,
                                                              const std::string& shown);

/// A path for messages: the user's path if it is that of a copy (`path_of_user`), relative to the
/// current directory if it is below that.
[[nodiscard]] std::string display_path(const std::filesystem::path& path);

/// Throws ErrorKind::usage "SHOWN:7: …" for a `.te` with macros in which a quote of m4 or a
/// parenthesis is never closed, at the line of the one that is open.
void check_macro_brackets(std::string_view source, const std::string& shown);

/// Checks a module as far as possible without the image: the file contexts of a `.te`, and the
/// format of `.pp`, `.pp.bz2` and `.cil`. Throws ErrorKind::usage naming the file.
void check_policy_module(const std::filesystem::path& module);

/// Name of the shipped module for policies whose boolean does not allow `map`.
inline constexpr const char* map_module = "nvidia-container-microshift";

/// Its source as shipped, for the blueprint in file `blueprint` (find_shipped). The build takes a
/// copy of it: SelinuxRequest::map_module.
[[nodiscard]] std::filesystem::path shipped_map_module(const std::filesystem::path& blueprint);

}  // namespace edgegpu
