#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "selinux/store/store.hpp"

namespace edgegpu::selinux {

/// The changes of a policy transaction, from calls of scriptlets and from the blueprint.
struct Transaction {
    /// Arguments of one semodule(8) run, in order: "-X", "200", "-i", "/path", …
    std::vector<std::string> actions;
    /// Booleans to set persistently.
    std::map<std::string, bool> booleans;
    /// Local file contexts: (regular expression, file type "--", "-d", … or "") → context or
    /// "<<none>>"
    std::map<std::pair<std::string, std::string>, std::string> file_contexts;
    /// Local path substitutions: target → source
    std::map<std::string, std::string> substitutions;
    /// Domains to make permissive.
    std::set<std::string> permissive;
    /// Paths of module files in the image that `actions` installs.
    std::vector<std::string> module_files;
    /// Whether the policy must be rebuilt even without actions.
    bool rebuild = false;
    /// Calls that have no effect in an image, for a note.
    std::vector<std::string> skipped;
};

/// Adds one recorded call, an argv whose first word is (the path of) semodule, setsebool or
/// semanage. `modules`, those of the store, is updated; `type` is that of the image's policy.
/// Throws Error with the call for anything that cannot be replayed exactly.
void add_call(Transaction& transaction, const std::vector<std::string>& call,
              std::set<ModuleId>& modules, const std::string& type);

}  // namespace edgegpu::selinux
