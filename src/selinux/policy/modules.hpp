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

/// A module is at most so large: ten times the largest of the policies there are.
inline constexpr std::uint64_t module_limit = 64U << 20U;

/// A policy module's text in CIL.
struct ModuleText {
    std::string name;
    /// 0: it is not in a store
    int priority = 0;
    std::string cil;
};

/// The content of a module's file, which may be compressed with bzip2. Throws Error naming the
/// file where it is damaged or holds more than any module does.
[[nodiscard]] std::string read_module_file(const std::filesystem::path& file);

/// The modules in force of the policy store at `store` ("/etc/selinux/targeted") of `entries`: the
/// highest priority of each name, without those switched off; those that were never compiled have
/// no CIL and are left out. Sorted by name.
[[nodiscard]] std::vector<ModuleText> store_modules(const Entries& entries,
                                                    const std::string& store);

/// Names that stand for a type in the rules of modules: itself, aliases, attributes. Adds to
/// `names` what statements of the modules put it into.
void add_memberships(const std::vector<ModuleText>& modules, std::set<std::string>& names);

/// An access asked for in the words of modules: all names of its source and of its target.
struct NamedAccess {
    std::set<std::string> sources;
    std::set<std::string> targets;
    /// source and target are one type: rules with the target `self` give it too
    bool self = false;
    std::string tclass;
};

/// A rule in a module's text.
struct ModuleGrant {
    std::string module;
    int priority = 0;
    /// "allow S T:C { p q }" as the module has it
    AllowRule rule;
    std::vector<CilCondition> conditions;
};

/// Every allow rule of the modules that gives some permission of the access, in order.
[[nodiscard]] std::vector<ModuleGrant> find_granting_rules(const std::vector<ModuleText>& modules,
                                                           const NamedAccess& access);

/// The unconditional allow rules of a module's source: of a `.cil`, or those of a `.te` that stand
/// outside of `if`, `optional` and macros and name their permissions. Nothing for other files.
/// Tells what a module that is not installed would give; the compiler has the last word.
[[nodiscard]] std::vector<AllowRule> source_rules(const std::filesystem::path& source);

}  // namespace edgegpu::selinux
