#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "execution/context.hpp"
#include "image/tree.hpp"
#include "selinux/store/store.hpp"

namespace edgegpu::selinux {

/// (regular expression, file type as "--" or "") → "user:role:type" or "<<none>>"
using ContextMap = std::map<std::pair<std::string, std::string>, std::string>;

/// The file contexts without the blueprint's modules: those of the image's policy, and those of the
/// module packages in the image that the same transaction installs.
[[nodiscard]] ContextMap known_contexts(const Tree& tree, const PolicyPaths& paths,
                                        const std::vector<std::string>& module_files);

/// The text of the `.fc` beside a module's source, without the lines that `known` has, since
/// semodule rejects duplicate specifications even if they are equal; removed lines are left blank.
/// Empty if there is no such file. `mls`: the policy has MLS levels. Throws ErrorKind::usage
/// "x.fc:3: …" for malformed lines, a missing level, and a pattern that has another context in
/// `known`.
[[nodiscard]] std::string new_contexts(const Context& ctx, const std::filesystem::path& source,
                                       const ContextMap& known, bool mls);

}  // namespace edgegpu::selinux
