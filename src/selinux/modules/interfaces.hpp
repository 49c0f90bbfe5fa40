#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "execution/context.hpp"
#include "fetch/fetch.hpp"
#include "image/tree.hpp"
#include "resolve/resolution.hpp"
#include "support/files/digest.hpp"

namespace edgegpu::selinux {

/// Modules whose sources use the reference policy's macros.
struct MacroModules {
    /// their `.te` files
    std::vector<std::filesystem::path> sources;
    /// file name ("x.te", "x.fc", "x.if") → text: of these modules, and `.te` and `.if` of the
    /// blueprint's other modules, whose interfaces they may use
    std::map<std::string, std::string> files;
    /// type of the policy, "targeted"
    std::string type;
    bool mls = true;
};

/// Adds what the meaning of macros depends on to a digest: the packages that define them, and the
/// image's files below /usr/share/selinux/devel/include.
void digest_interfaces(Sha256& digest, const PackageFiles& policy_root, const Tree& tree);

/// Compiles `modules` with the Makefile of selinux-policy-devel in a temporary root of
/// `policy_root`, in the sandbox, together with the interface files of the image's own packages.
/// Writes NAME.pp to `directory`. Cached (`modules/`) by the digest of sources, packages and
/// interface files. Throws ErrorKind::usage "x.te:7: …" with the user's line.
void compile_with_interfaces(const Context& ctx, const PackageFiles& policy_root, const Tree& tree,
                             const MacroModules& modules, const std::filesystem::path& directory);

/// The first error in the output of make, m4 and checkmodule, with the user's file and line.
/// `interfaces`: the names of all interfaces and sets of permissions, sorted. `directory`: that of
/// the user's files in messages ("selinux/" or "").
[[nodiscard]] Error macro_error(const std::string& output, const MacroModules& modules,
                                const std::string& directory,
                                const std::vector<std::string>& interfaces);

/// The names of macros that the text of an interface file (`.if`, `.spt`) defines.
[[nodiscard]] std::vector<std::string> defined_macros(const std::string& text);

}  // namespace edgegpu::selinux
