#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "fetch/fetch.hpp"
#include "image/tree.hpp"
#include "resolve/resolution.hpp"
#include "support/context.hpp"
#include "support/digest.hpp"

namespace edgegpu::selinux {

/// Modules whose sources use the reference policy's macros.
struct MacroModules {
    /// their `.te` files
    std::vector<std::filesystem::path> sources;
    /// file name ("x.te", "x.fc", "x.if") → text: of these modules, and the `.te` and `.if` of the
    /// blueprint's others, whose interfaces they may use
    std::map<std::string, std::string> files;
    /// type of the policy, "targeted"
    std::string type;
    bool mls = true;
};

/// Adds to a digest what macros mean: the packages they come from, and the files below
/// /usr/share/selinux/devel/include that the image's own packages ship.
void digest_interfaces(Sha256& digest, const PackageFiles& policy_root, const Tree& tree);

/// Compiles them with the Makefile of selinux-policy-devel in a root of `policy_root`, together
/// with the interface files of the image's own packages: in the sandbox, without network, and gone
/// afterwards. Puts NAME.pp into `directory`; kept in the cache (`modules/`) under the digest of
/// sources, packages and interface files. Throws ErrorKind::usage "x.te:7: …" at the user's line.
void compile_with_interfaces(const Context& ctx, const PackageFiles& policy_root, const Tree& tree,
                             const MacroModules& modules, const std::filesystem::path& directory);

/// First error in the output of make, m4 and checkmodule, as the user's file and line.
/// `interfaces`: the names of all interfaces and sets of permissions there are. `directory` is
/// where the user's files are, as messages show it ("selinux/" or "").
[[nodiscard]] Error macro_error(const std::string& output, const MacroModules& modules,
                                const std::string& directory,
                                const std::vector<std::string>& interfaces);

/// Names that a file of interfaces (`.if`, `.spt`) defines.
[[nodiscard]] std::vector<std::string> defined_macros(const std::string& text);

}  // namespace edgegpu::selinux
