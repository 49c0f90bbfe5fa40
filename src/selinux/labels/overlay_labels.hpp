#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "blueprint/files.hpp"
#include "image/tree.hpp"
#include "selinux/policy/policydb.hpp"

namespace edgegpu::selinux {

/// Adds the labels of overlay rules to a transaction's local file contexts, (regular expression,
/// file type) → context, so that restorecon on a device keeps them. `mls`: the policy has levels.
void add_overlay_labels(const std::vector<OverlayRequest>& overlays, bool mls,
                        std::map<std::pair<std::string, std::string>, std::string>& file_contexts);

/// Throws ErrorKind::usage at a rule's line if semodule's `output` refuses its label, with near
/// names of the types in the policy, which is read only then. Does nothing for other output.
void explain_refused_label(const std::vector<OverlayRequest>& overlays, const std::string& output,
                           const std::function<PolicyDb()>& policy);

}  // namespace edgegpu::selinux

namespace edgegpu {

/// Throws ErrorKind::usage at a rule's line if a labelled tree has another label than the rule
/// says: file contexts of the policy that name a path win over patterns.
void check_overlay_labels(const std::vector<OverlayRequest>& overlays, const Tree& tree);

}  // namespace edgegpu
