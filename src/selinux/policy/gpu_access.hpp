#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "selinux/policy/modules.hpp"
#include "selinux/policy/policydb.hpp"

namespace edgegpu::selinux {

/// container-selinux's boolean for any device node, since 2.175; with `map` since 2.213.
inline constexpr const char* wide_boolean = "container_use_devices";
/// Its boolean for the nodes of graphics cards alone, since 2.232.
inline constexpr const char* narrow_boolean = "container_use_xserver_devices";

/// What containers do with the GPU's device nodes: CUDA maps them too.
[[nodiscard]] AllowRule gpu_rule();

/// What a policy gives container_t on the GPU's device nodes, of gpu_rule()'s permissions.
struct GpuRules {
    bool has_domain = false;
    bool has_device = false;
    /// with the booleans as they are
    std::set<std::string> given;
    /// for each of the two booleans that the policy has: what is given with it on as well
    std::map<std::string, std::set<std::string>> by_boolean;
};

/// The rules of a finished policy (`modules` empty), of one that `modules` are about to be added
/// to, or of one made of `modules` alone (`policy` is null). `set`: booleans of another value
/// than the policy's. Optional blocks of modules count as if they were in force.
[[nodiscard]] GpuRules find_gpu_rules(const PolicyDb* policy,
                                      const std::vector<ModuleText>& modules,
                                      const std::map<std::string, bool>& set = {});

/// How ordinary containers get the GPU.
struct GpuAccess {
    /// to be switched on; none: not needed
    std::optional<std::string> boolean;
    /// the shipped module `map_module` is needed
    bool module = false;
    /// One sentence: what was chosen and why.
    std::string reason;
};

/// Chooses the least that lets container_t use the GPU, from what the rules contain: nothing, the
/// narrow boolean, the wide one, or one of these with the module, which gives `module_gives`.
/// Booleans in `off` stay off, because the blueprint says so. Throws ErrorKind::usage "WHERE: …"
/// where the policy lacks container_t, or nothing of these is enough.
[[nodiscard]] GpuAccess choose_gpu_access(const GpuRules& rules,
                                          const std::set<std::string>& module_gives,
                                          const std::set<std::string>& off,
                                          const SourceLocation& where);

}  // namespace edgegpu::selinux
