#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "image/tree.hpp"
#include "rootfs/tool_root.hpp"
#include "selinux/store/store.hpp"

namespace edgegpu::selinux {

/// What the image's semodule needs, with what it runs: the compiler of file contexts, setfiles, the
/// translators of modules, a shell. genhomedircon, a part of it, labels home directories by the
/// accounts and a few other files, which are there as the image has them, with the modules of the
/// name service. `module_files` are module packages of the image that semodule installs. The policy
/// and its store are not there: StoreCopy has them.
[[nodiscard]] ToolNeeds policy_tools(const Tree& tree, const PolicyPaths& paths,
                                     const std::vector<std::string>& module_files);

/// Whether the path belongs to the policy or to its store.
[[nodiscard]] bool is_of_policy(std::string_view path, const PolicyPaths& paths);

}  // namespace edgegpu::selinux
