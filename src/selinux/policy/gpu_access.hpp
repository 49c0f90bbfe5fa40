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

/// Boolean of container-selinux for all device nodes, since 2.175; with `map` since 2.213.
inline constexpr const char* wide_boolean = "container_use_devices";
/// Boolean of container-selinux for device nodes of graphics cards, since 2.232.
inline constexpr const char* narrow_boolean = "container_use_xserver_devices";

/// The access of containers to the GPU's device nodes, with `map`, which CUDA needs.
[[nodiscard]] AllowRule gpu_rule();

/// Which of gpu_rule()'s permissions a policy gives.
struct GpuRules {
    /// whether the policy has the types of gpu_rule()
    bool has_domain = false;
    bool has_device = false;
    /// with the current values of booleans
    std::set<std::string> given;
    /// for each of the two booleans that the policy has: with that boolean on as well
    std::map<std::string, std::set<std::string>> by_boolean;
};

/// The rules of a finished policy (without `modules`), of a policy to which `modules` will be
/// added, or of one that consists of `modules` (`policy` is null). `set` has booleans with a value
/// that differs from the policy's. Optional blocks of modules are taken to be in force.
[[nodiscard]] GpuRules find_gpu_rules(const PolicyDb* policy,
                                      const std::vector<ModuleText>& modules,
                                      const std::map<std::string, bool>& set = {});

/// How ordinary containers get access to the GPU.
struct GpuAccess {
    /// the boolean to switch on, if one is needed
    std::optional<std::string> boolean;
    /// the shipped module `map_module` is needed
    bool module = false;
    /// One sentence: what was chosen and why.
    std::string reason;
};

/// Chooses the smallest change that lets container_t use the GPU: nothing, the narrow boolean, the
/// wide one, or one of these with the module, which gives `module_gives`. Booleans in `off`, which
/// the blueprint sets to false, are not used. Throws ErrorKind::usage "WHERE: …" if the policy does
/// not have the types of gpu_rule(), or none of these is sufficient.
[[nodiscard]] GpuAccess choose_gpu_access(const GpuRules& rules,
                                          const std::set<std::string>& module_gives,
                                          const std::set<std::string>& off,
                                          const SourceLocation& where);

}  // namespace edgegpu::selinux
