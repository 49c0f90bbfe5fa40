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
/// file type) → context, so that restorecon on a device keeps them. `mls`: the policy has MLS
/// levels.
void add_overlay_labels(const std::vector<OverlayRequest>& overlays, bool mls,
                        std::map<std::pair<std::string, std::string>, std::string>& file_contexts);

/// Throws ErrorKind::usage with a rule's line if semodule's `output` says that its label is
/// invalid, with similar names of types in the policy, which is read only then. Else does nothing.
void explain_refused_label(const std::vector<OverlayRequest>& overlays, const std::string& output,
                           const std::function<PolicyDb()>& policy);

}  // namespace edgegpu::selinux

namespace edgegpu {

/// Throws ErrorKind::usage with a rule's line if the labelled tree has another type than the rule
/// for a path: file contexts of the policy without metacharacters override patterns.
void check_overlay_labels(const std::vector<OverlayRequest>& overlays, const Tree& tree);

}  // namespace edgegpu
