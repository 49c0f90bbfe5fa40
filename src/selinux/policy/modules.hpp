#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "image/tree.hpp"
#include "selinux/policy/cil.hpp"
#include "selinux/policy/policydb.hpp"

namespace edgegpu::selinux {

/// Largest size of a module in bytes: ten times the largest module of existing policies.
inline constexpr std::uint64_t module_limit = 64U << 20U;

/// A policy module in CIL.
struct ModuleText {
    std::string name;
    /// 0 if it is not in a store
    int priority = 0;
    std::string cil;
};

/// The content of a module's file, decompressed (bzip2). Throws Error with the file's path if it is
/// damaged or larger than module_limit.
[[nodiscard]] std::string read_module_file(const std::filesystem::path& file);

/// The active modules of the policy store at `store` ("/etc/selinux/targeted") in `entries`, sorted
/// by name: those with the highest priority of each name, without disabled ones, and without those
/// that have no CIL because they were never compiled.
[[nodiscard]] std::vector<ModuleText> store_modules(const Entries& entries,
                                                    const std::string& store);

/// Completes the names of a type in rules (itself, aliases, attributes): adds the aliases and
/// attributes that statements of the modules give to any of `names`.
void add_memberships(const std::vector<ModuleText>& modules, std::set<std::string>& names);

/// An access to be looked up in modules, with all names of its source and of its target.
struct NamedAccess {
    std::set<std::string> sources;
    std::set<std::string> targets;
    /// source and target are the same type: rules with the target `self` give the access too
    bool self = false;
    std::string tclass;
};

/// A rule in a module's text.
struct ModuleGrant {
    std::string module;
    int priority = 0;
    /// the rule in the module; without permissions if these are an expression
    AllowRule rule;
    std::vector<CilCondition> conditions;
};

/// All allow rules of the modules for the access's source, target and class, in order.
[[nodiscard]] std::vector<ModuleGrant> find_granting_rules(const std::vector<ModuleText>& modules,
                                                           const NamedAccess& access);

/// The unconditional allow rules in a module's source, an estimate of what the module would give:
/// of a `.cil`, or of a `.te` those outside of `if`, `optional` and macros that name their
/// permissions. Empty for other files.
[[nodiscard]] std::vector<AllowRule> source_rules(const std::filesystem::path& source);

}  // namespace edgegpu::selinux
