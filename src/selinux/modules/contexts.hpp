#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "image/tree.hpp"
#include "selinux/store/store.hpp"
#include "support/context.hpp"

namespace edgegpu::selinux {

/// (regular expression, file type as "--" or "") → "user:role:type" or "<<none>>"
using ContextMap = std::map<std::pair<std::string, std::string>, std::string>;

/// The file contexts of the image's policy before the blueprint's modules: those that are built in,
/// and those of the module packages in the image that the same transaction installs.
[[nodiscard]] ContextMap known_contexts(const Tree& tree, const PolicyPaths& paths,
                                        const std::vector<std::string>& module_files);

/// The `.fc` beside a module's source with the lines blank that `known` has: semodule refuses a
/// specification that comes twice, even the same one. Lines keep their numbers. Empty where there
/// is no such file. Throws ErrorKind::usage "x.fc:3: …" for malformed lines, and for one that the
/// image's policy has with another context.
[[nodiscard]] std::string new_contexts(const Context& ctx, const std::filesystem::path& source,
                                       const ContextMap& known, bool mls);

}  // namespace edgegpu::selinux
