#include "selinux/policy/gpu_access.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "blueprint/sources/policy_source.hpp"
#include "support/error.hpp"
#include "support/source_location.hpp"

namespace edgegpu::selinux {

namespace {

using Names = std::set<std::string>;

/// The names of a type in rules of the policy and of the modules: itself, aliases, attributes.
Names names_of(const PolicyDb* policy, const std::vector<ModuleText>& modules,
               const std::string& type) {
    Names names;
    if (policy != nullptr) {
        names = policy->attributes_of(type);
    }
    names.insert(type);
    add_memberships(modules, names);
    return names;
}

/// Name → value (or "") of what the modules declare with the statement `keyword`.
std::map<std::string, std::string> declared(const std::vector<ModuleText>& modules,
                                            std::string_view keyword) {
    std::map<std::string, std::string> result;
    for (const ModuleText& module : modules) {
        read_cil(module.cil, module.name, [&](const CilNode& statement, const auto&) {
            const std::vector<CilNode>& words = statement.items;
            if (words.size() > 1 && words[0].atom == keyword) {
                result[words[1].atom] = words.size() > 2 ? words[2].atom : "";
            }
        });
    }
    return result;
}

/// All rules about the access of gpu_rule(), to be evaluated with different booleans.
class Rules {
public:
    Rules(const PolicyDb* policy, const std::vector<ModuleText>& modules) : policy_(policy) {
        const AllowRule wanted = gpu_rule();
        sources_ = names_of(policy, modules, wanted.source);
        targets_ = names_of(policy, modules, wanted.target);
        added_ = find_granting_rules(modules, {sources_, targets_, false, wanted.tclass});
    }

    /// The permissions of gpu_rule() that are given if the booleans `on` are true and all others
    /// are false.
    [[nodiscard]] Names given(const Names& on) const {
        Names result;
        for (const std::string& permission : gpu_rule().permissions) {
            if (added_gives(permission, on) || policy_gives(permission, on)) {
                result.insert(permission);
            }
        }
        return result;
    }

private:
    [[nodiscard]] bool added_gives(const std::string& permission, const Names& on) const {
        return std::ranges::any_of(added_, [&](const ModuleGrant& grant) {
            return grant.rule.permissions.contains(permission) &&
                   std::ranges::all_of(grant.conditions, [&](const CilCondition& condition) {
                       return evaluate(condition.expression, on) == condition.when;
                   });
        });
    }
    [[nodiscard]] bool policy_gives(const std::string& permission, const Names& on) const {
        if (policy_ == nullptr) {
            return false;
        }
        std::map<std::string, bool> values = policy_->booleans();
        for (auto& [name, value] : values) {
            value = on.contains(name);
        }
        // A type that a module adds is not in the policy, but its attributes may be.
        const AllowRule wanted = gpu_rule();
        const bool known = policy_->has_type(wanted.target);
        const Names targets = known ? Names{wanted.target} : targets_;
        for (const std::string& source : sources_) {
            for (const std::string& target : targets) {
                const std::vector<Grant> grants =
                    policy_->grants(source, target, wanted.tclass, permission, values);
                if (std::ranges::any_of(grants, [&](const Grant& grant) {
                        return grant.active && sources_.contains(grant.rule.source) &&
                               targets_.contains(grant.rule.target);
                    })) {
                    return true;
                }
            }
        }
        return false;
    }

    const PolicyDb* policy_;
    Names sources_;
    Names targets_;
    std::vector<ModuleGrant> added_;
};

Names without(const Names& from, const Names& taken) {
    Names result;
    std::set_difference(from.begin(), from.end(), taken.begin(), taken.end(),
                        std::inserter(result, result.end()));
    return result;
}

/// The permissions that are given with a boolean on, or (without a name) without changing one.
struct Candidate {
    std::string boolean;
    Names gives;
};

/// Why the choices before `chosen` are not enough, to be appended to a sentence.
std::string shortcomings(const GpuRules& rules, const Names& off, std::string_view chosen) {
    for (const std::string_view boolean : {narrow_boolean, wide_boolean}) {
        if (boolean == chosen) {
            break;
        }
        const auto found = rules.by_boolean.find(std::string(boolean));
        if (off.contains(std::string(boolean))) {
            return fmt::format("; the blueprint keeps {} off", boolean);
        }
        if (found != rules.by_boolean.end()) {
            return fmt::format("; {} gives no {}", boolean,
                               fmt::join(without(gpu_rule().permissions, found->second), ", "));
        }
    }
    return chosen == wide_boolean
               ? fmt::format("; the narrower {} is not in the policy", narrow_boolean)
               : std::string();
}

Error no_way(const GpuRules& rules, const Names& module_gives, const Names& off,
             const SourceLocation& where) {
    Names best = rules.given;
    for (const auto& [boolean, gives] : rules.by_boolean) {
        if (!off.contains(boolean) && gives.size() > best.size()) {
            best = gives;
        }
    }
    best.insert(module_gives.begin(), module_gives.end());
    const AllowRule wanted = gpu_rule();
    const AllowRule missing{wanted.source, wanted.target, wanted.tclass,
                            without(wanted.permissions, best)};
    return error(ErrorKind::usage,
                 "{}: containers cannot be given the GPU: no boolean of the image's policy leads "
                 "to \"{}\"",
                 where.text(), missing.text())
        .hinted(off.empty()
                    ? fmt::format("use a newer container-selinux, which has the boolean "
                                  "{}; or name a policy module of your own in [selinux] "
                                  "modules",
                                  wide_boolean)
                    : fmt::format("[selinux] booleans switches {} off", fmt::join(off, " and ")));
}

}  // namespace

AllowRule gpu_rule() {
    return {"container_t",
            "xserver_misc_device_t",
            "chr_file",
            {"getattr", "ioctl", "map", "open", "read", "write"}};
}

GpuRules find_gpu_rules(const PolicyDb* policy, const std::vector<ModuleText>& modules,
                        const std::map<std::string, bool>& set) {
    const AllowRule wanted = gpu_rule();
    const std::map<std::string, std::string> types = declared(modules, "type");
    GpuRules result;
    result.has_domain =
        types.contains(wanted.source) || (policy != nullptr && policy->has_type(wanted.source));
    result.has_device =
        types.contains(wanted.target) || (policy != nullptr && policy->has_type(wanted.target));
    std::map<std::string, bool> values;
    if (policy != nullptr) {
        values = policy->booleans();
    }
    for (const auto& [name, value] : declared(modules, "boolean")) {
        values[name] = value == "true";
    }
    Names on;
    for (const auto& [name, value] : values) {
        const auto other = set.find(name);
        if (other == set.end() ? value : other->second) {
            on.insert(name);
        }
    }
    const Rules rules(policy, modules);
    result.given = rules.given(on);
    for (const std::string boolean : {narrow_boolean, wide_boolean}) {
        if (values.contains(boolean)) {
            Names with = on;
            with.insert(boolean);
            result.by_boolean[boolean] = rules.given(with);
        }
    }
    return result;
}

GpuAccess choose_gpu_access(const GpuRules& rules, const Names& module_gives, const Names& off,
                            const SourceLocation& where) {
    const Names wanted = gpu_rule().permissions;
    for (const auto& [known, type] : {std::pair(rules.has_domain, gpu_rule().source),
                                      std::pair(rules.has_device, gpu_rule().target)}) {
        if (!known) {
            throw error(
                ErrorKind::usage,
                "{}: containers cannot be given the GPU: the image's policy has no type '{}'",
                where.text(), type)
                .hinted(type == gpu_rule().source
                            ? "add container-selinux to the packages, or remove gpu_containers"
                            : "the device nodes of GPUs have no label of their own in it");
        }
    }
    std::vector<Candidate> candidates{{"", rules.given}};
    for (const std::string boolean : {narrow_boolean, wide_boolean}) {
        const auto found = rules.by_boolean.find(boolean);
        if (found != rules.by_boolean.end() && !off.contains(boolean)) {
            candidates.push_back({boolean, found->second});
        }
    }
    for (const Candidate& candidate : candidates) {
        if (without(wanted, candidate.gives).empty()) {
            GpuAccess access;
            if (candidate.boolean.empty()) {
                access.reason = "container_t may use the GPU's device nodes already";
                return access;
            }
            access.boolean = candidate.boolean;
            access.reason = fmt::format(
                "boolean {}: it gives container_t the GPU's device nodes, map included{}",
                candidate.boolean, shortcomings(rules, off, candidate.boolean));
            return access;
        }
    }
    for (const Candidate& candidate : candidates) {
        const Names missing = without(wanted, candidate.gives);
        if (without(missing, module_gives).empty()) {
            GpuAccess access;
            access.module = true;
            if (!candidate.boolean.empty()) {
                access.boolean = candidate.boolean;
            }
            access.reason =
                candidate.boolean.empty()
                    ? fmt::format("module {}: the policy lacks only {}", map_module,
                                  fmt::join(missing, ", "))
                    : fmt::format("boolean {} and module {}: the boolean gives no {}",
                                  candidate.boolean, map_module, fmt::join(missing, ", "));
            return access;
        }
    }
    throw no_way(rules, module_gives, off, where);
}

}  // namespace edgegpu::selinux
