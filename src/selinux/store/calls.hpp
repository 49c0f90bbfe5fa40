#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "selinux/store/store.hpp"

namespace edgegpu::selinux {

/// What a policy transaction does, gathered from calls of scriptlets and from the blueprint.
struct Transaction {
    /// Arguments of one semodule(8) run, in order: "-X", "200", "-i", "/path", …
    std::vector<std::string> actions;
    /// Booleans to set for good.
    std::map<std::string, bool> booleans;
    /// Local file contexts: (regular expression, file type letter or empty) → context or
    /// "<<none>>"
    std::map<std::pair<std::string, std::string>, std::string> file_contexts;
    /// Local path substitutions: target → source
    std::map<std::string, std::string> substitutions;
    /// Domains made permissive.
    std::set<std::string> permissive;
    /// Paths of module files in the image that `actions` installs.
    std::vector<std::string> module_files;
    /// The policy must be rebuilt even without an action.
    bool rebuild = false;
    /// Calls that have nothing to do in an image, for a note.
    std::vector<std::string> skipped;
};

/// Adds one recorded call, an argv whose first word is (a path of) semodule, setsebool or semanage.
/// `modules` is what the store holds and is kept up to date. Throws Error naming the call for
/// anything that cannot be carried over exactly.
void add_call(Transaction& transaction, const std::vector<std::string>& call,
              std::set<ModuleId>& modules, const std::string& type);

/// Name of the module in a file "/x/NAME.pp.bz2", "NAME.pp", "NAME.cil".
[[nodiscard]] std::string module_name(const std::string& path);

}  // namespace edgegpu::selinux
