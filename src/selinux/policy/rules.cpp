#include "selinux/policy/rules.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "blueprint/sources/policy_rule.hpp"
#include "support/error.hpp"
#include "support/source_location.hpp"

namespace edgegpu::selinux {

namespace {

using Switches = std::map<std::string, bool>;
using Names = std::set<std::string>;

/// Largest number of rules that are shown for a forbidden one.
constexpr std::size_t shown_grants = 3;

Error unknown(const SourceLocation& where, const std::string& what, std::string_view name,
              const Names& known) {
    const std::vector<std::string> near =
        nearest_names(name, std::vector<std::string>(known.begin(), known.end()), 3);
    return error(ErrorKind::usage, "{}: {} '{}'", where.text(), what, name)
        .hinted(near.empty() ? std::string("install the package whose policy module defines it")
                             : fmt::format("did you mean {}?", fmt::join(near, ", ")));
}

/// Throws for a name in the rule that the policy does not have.
void check_names(const PolicyDb& policy, const AllowRule& rule, const SourceLocation& where) {
    for (const std::string& name : {rule.source, rule.target}) {
        if (name != "self" && !policy.has_type(name) && !policy.has_attribute(name)) {
            Names known = policy.types();
            known.merge(policy.attributes());
            throw unknown(where, "the image's policy has no type or attribute", name, known);
        }
    }
    const Names permissions = policy.permissions_of(rule.tclass);
    if (permissions.empty()) {
        throw unknown(where, "the image's policy has no class", rule.tclass, policy.classes());
    }
    for (const std::string& permission : rule.permissions) {
        if (!permissions.contains(permission)) {
            throw unknown(where, fmt::format("the class {} has no permission", rule.tclass),
                          permission, permissions);
        }
    }
}

AllowRule with(const AllowRule& rule, Names permissions) {
    return {rule.source, rule.target, rule.tclass, std::move(permissions)};
}

/// Those of the rule's permissions that not all pairs of its types have.
Names missing_permissions(const PolicyDb& policy, const AllowRule& rule,
                          const Switches& changed = {}) {
    Names missing;
    for (const std::string& permission : rule.permissions) {
        if (policy.first_denied(with(rule, {permission}), changed)) {
            missing.insert(permission);
        }
    }
    return missing;
}

/// All names of a type in rules of the binary policy: itself and its attributes.
Names all_names(const PolicyDb& policy, const std::string& name) {
    Names names = policy.attributes_of(name);
    names.insert(name);
    return names;
}

std::string words(const Switches& switches) {
    std::vector<std::string> parts;
    for (const auto& [name, value] : switches) {
        parts.push_back(fmt::format("{} = {}", name, value));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string describe(const Grant& grant) {
    return grant.condition.empty() ? grant.rule.text()
                                   : fmt::format("{} if {}", grant.rule.text(), grant.condition);
}

/// Finds the modules that rules of the policy are from; reads the modules when first needed.
class Origins {
public:
    Origins(const PolicyDb& policy, const RuleOrigins& origins)
        : policy_(policy), origins_(origins) {}

    /// The rule of a module that `grant` is from; nothing if it is not found.
    std::optional<ModuleGrant> of(const Grant& grant, const std::string& permission) {
        NamedAccess access;
        access.sources = all_names(policy_, grant.source_type);
        access.targets = all_names(policy_, grant.target_type);
        access.self = grant.source_type == grant.target_type;
        access.tclass = grant.rule.tclass;
        std::optional<ModuleGrant> found = nearest(grant, permission, access);
        if (!found) {
            // Attributes with few types are expanded in the binary policy: only modules have them.
            add_memberships(modules(), access.sources);
            add_memberships(modules(), access.targets);
            found = nearest(grant, permission, access);
        }
        return found;
    }

private:
    const std::vector<ModuleText>& modules() {
        if (!modules_) {
            modules_ = origins_.modules ? origins_.modules() : std::vector<ModuleText>();
        }
        return *modules_;
    }
    /// Of the modules' rules that give the access, the one most similar to the policy's.
    std::optional<ModuleGrant> nearest(const Grant& grant, const std::string& permission,
                                       const NamedAccess& access) {
        std::optional<ModuleGrant> best;
        int best_likeness = -1;
        for (ModuleGrant& found : find_granting_rules(modules(), access)) {
            if (!found.rule.permissions.empty() && !found.rule.permissions.contains(permission)) {
                continue;
            }
            const int likeness =
                (conditions_text(found.conditions).empty() == grant.condition.empty() ? 4 : 0) +
                (found.rule.source == grant.rule.source ? 2 : 0) +
                (found.rule.target == grant.rule.target ? 1 : 0);
            if (likeness > best_likeness) {
                best_likeness = likeness;
                best = std::move(found);
            }
        }
        return best;
    }

    const PolicyDb& policy_;
    const RuleOrigins& origins_;
    std::optional<std::vector<ModuleText>> modules_;
};

std::string origin_text(const std::optional<ModuleGrant>& origin) {
    return origin ? fmt::format(", of the policy module {} (priority {})", origin->module,
                                origin->priority)
                  : std::string();
}

/// A setting of booleans, and the missing permissions that it gives.
struct BooleanRemedy {
    Switches switches;
    Names gives;
    Grant grant;
};

/// The number of pairs of types to which a rule applies.
std::size_t reach(const PolicyDb& policy, const AllowRule& rule) {
    const auto count = [&](const std::string& name) {
        return std::max<std::size_t>(policy.types_of(name).size(), 1);
    };
    return count(rule.source) * count(rule.target);
}

/// Whether `a` gives more, or as much with fewer booleans, or as much by a rule for fewer pairs.
bool is_better(const PolicyDb& policy, const BooleanRemedy& a, const BooleanRemedy& b) {
    if (a.gives.size() != b.gives.size()) {
        return a.gives.size() > b.gives.size();
    }
    if (a.switches.size() != b.switches.size()) {
        return a.switches.size() < b.switches.size();
    }
    return reach(policy, a.grant.rule) < reach(policy, b.grant.rule);
}

/// The setting that gives most of `lacking` and denies nothing else of `rule`, evaluated on the
/// policy.
std::optional<BooleanRemedy> find_booleans(const PolicyDb& policy, const AllowRule& rule,
                                           const AllowRule& lacking) {
    std::vector<BooleanRemedy> candidates;
    BooleanRemedy together;
    for (const std::string& permission : lacking.permissions) {
        bool first = true;
        for (const Grant& grant :
             policy.grants(lacking.source, lacking.target, lacking.tclass, permission)) {
            if (grant.active || grant.switches.empty()) {
                continue;
            }
            candidates.push_back({grant.switches, {}, grant});
            if (std::exchange(first, false)) {
                together.switches.insert(grant.switches.begin(), grant.switches.end());
                together.grant = grant;
            }
        }
    }
    candidates.push_back(std::move(together));
    std::optional<BooleanRemedy> best;
    for (BooleanRemedy& candidate : candidates) {
        const Names missing = missing_permissions(policy, rule, candidate.switches);
        if (!std::includes(lacking.permissions.begin(), lacking.permissions.end(), missing.begin(),
                           missing.end())) {
            continue;
        }
        std::set_difference(lacking.permissions.begin(), lacking.permissions.end(), missing.begin(),
                            missing.end(), std::inserter(candidate.gives, candidate.gives.end()));
        if (!candidate.gives.empty() && (!best || is_better(policy, candidate, *best))) {
            best = std::move(candidate);
        }
    }
    return best;
}

struct ModuleRemedy {
    std::string name;
    Names gives;
};

/// The shipped module that gives most of `lacking`.
std::optional<ModuleRemedy> find_shipped(const PolicyDb& policy, const AllowRule& lacking,
                                         const std::vector<std::filesystem::path>& shipped) {
    const Names sources = all_names(policy, lacking.source);
    const Names targets = all_names(policy, lacking.target);
    std::optional<ModuleRemedy> best;
    for (const std::filesystem::path& source : shipped) {
        ModuleRemedy remedy{source.stem().string(), {}};
        for (const AllowRule& rule : source_rules(source)) {
            const bool target = rule.target == "self"
                                    ? lacking.target == "self" || lacking.source == lacking.target
                                    : targets.contains(rule.target);
            if (rule.tclass == lacking.tclass && sources.contains(rule.source) && target) {
                std::set_intersection(rule.permissions.begin(), rule.permissions.end(),
                                      lacking.permissions.begin(), lacking.permissions.end(),
                                      std::inserter(remedy.gives, remedy.gives.end()));
            }
        }
        if (!remedy.gives.empty() && (!best || remedy.gives.size() > best->gives.size())) {
            best = std::move(remedy);
        }
    }
    return best;
}

std::string what_it_gives(const Names& gives, const AllowRule& lacking) {
    return gives == lacking.permissions ? std::string("it")
                                        : fmt::format("only {}", fmt::join(gives, ", "));
}

std::string way_out(const std::optional<BooleanRemedy>& booleans,
                    const std::optional<ModuleRemedy>& module, const AllowRule& lacking) {
    std::string set =
        booleans ? fmt::format("set {} in [selinux] booleans", words(booleans->switches)) : "";
    std::string add = module ? fmt::format("add \"{}\" to [selinux] modules", module->name) : "";
    if (booleans && booleans->gives == lacking.permissions) {
        return set;
    }
    if (module && module->gives == lacking.permissions) {
        return add;
    }
    if (booleans && module) {
        Names both = booleans->gives;
        both.insert(module->gives.begin(), module->gives.end());
        if (both == lacking.permissions) {
            return fmt::format("{}, and {}", set, add);
        }
    }
    return "write a policy module with this rule, and name it in [selinux] modules";
}

/// The Error for a required rule that does not hold.
Error missing_error(const PolicyDb& policy, const AllowRule& rule, const Names& missing,
                    const SourceLocation& where, const RuleOrigins& origins) {
    const AllowRule lacking = with(rule, missing);
    Error failure =
        error("{}: the image's policy lacks a required rule: {}", where.text(), lacking.text());
    const auto pair = policy.first_denied(lacking);
    if (pair && (pair->first != lacking.source || pair->second != lacking.target)) {
        failure.traced(fmt::format("{} lacks it on {}", pair->first, pair->second));
    }
    const std::optional<BooleanRemedy> booleans = find_booleans(policy, rule, lacking);
    if (booleans) {
        failure.traced(fmt::format(
            "{} would give {}: {}{}", words(booleans->switches),
            what_it_gives(booleans->gives, lacking), describe(booleans->grant),
            origin_text(Origins(policy, origins).of(booleans->grant, *booleans->gives.begin()))));
    }
    const std::optional<ModuleRemedy> module = find_shipped(policy, lacking, origins.shipped);
    if (module) {
        failure.traced(fmt::format("the module {} would give {}", module->name,
                                   what_it_gives(module->gives, lacking)));
    }
    return failure.hinted(way_out(booleans, module, lacking));
}

void check_required(const PolicyDb& policy, const PolicyRuleRequest& request,
                    const RuleOrigins& origins) {
    for (const AllowRule& rule : parse_rule(request.text, request.location)) {
        check_names(policy, rule, request.location);
        const Names missing = missing_permissions(policy, rule);
        if (!missing.empty()) {
            throw missing_error(policy, rule, missing, request.location, origins);
        }
    }
}

std::vector<Grant> active_grants(const PolicyDb& policy, const AllowRule& rule,
                                 const std::string& permission, const Switches& changed = {}) {
    std::vector<Grant> grants =
        policy.grants(rule.source, rule.target, rule.tclass, permission, changed);
    std::erase_if(grants, [](const Grant& grant) { return !grant.active; });
    return grants;
}

/// The hint for removing the rules that give a permission.
std::string way_without(const PolicyDb& policy, const AllowRule& given,
                        const std::vector<Grant>& grants, const Names& modules) {
    Switches off;
    for (const Grant& grant : grants) {
        off.insert(grant.switches.begin(), grant.switches.end());
    }
    if (active_grants(policy, given, *given.permissions.begin(), off).empty()) {
        return fmt::format("set {} in [selinux] booleans", words(off));
    }
    return modules.empty() ? std::string("allow it, or omit the package whose policy has the rule")
                           : fmt::format("omit the policy module {}, or allow what it needs",
                                         fmt::join(modules, " and "));
}

/// The Error for a forbidden permission that is given.
Error given_error(const PolicyDb& policy, const AllowRule& given, const std::vector<Grant>& grants,
                  const SourceLocation& where, const RuleOrigins& origins) {
    Error failure =
        error("{}: the image's policy has a forbidden rule: {}", where.text(), given.text());
    const std::string& permission = *given.permissions.begin();
    Origins finder(policy, origins);
    Names modules;
    for (std::size_t i = 0; i < grants.size() && i < shown_grants; ++i) {
        const Grant& grant = grants[i];
        const std::optional<ModuleGrant> origin = finder.of(grant, permission);
        if (origin) {
            modules.insert(origin->module);
        }
        const bool plain = grant.source_type == given.source && grant.target_type == given.target;
        failure.traced(fmt::format(
            "{}{}{}", describe(grant), origin_text(origin),
            plain ? "" : fmt::format(": for {} and {}", grant.source_type, grant.target_type)));
    }
    if (grants.size() > shown_grants) {
        failure.traced(fmt::format("and {} more rules", grants.size() - shown_grants));
    }
    return failure.hinted(way_without(policy, given, grants, modules));
}

void check_forbidden(const PolicyDb& policy, const PolicyRuleRequest& request,
                     const RuleOrigins& origins) {
    for (const AllowRule& rule : parse_rule(request.text, request.location)) {
        check_names(policy, rule, request.location);
        for (const std::string& permission : rule.permissions) {
            const std::vector<Grant> grants = active_grants(policy, rule, permission);
            if (!grants.empty()) {
                throw given_error(policy, with(rule, {permission}), grants, request.location,
                                  origins);
            }
        }
    }
}

}  // namespace

void check_rules(const PolicyDb& policy, const std::vector<PolicyRuleRequest>& require,
                 const std::vector<PolicyRuleRequest>& forbid, const RuleOrigins& origins) {
    for (const PolicyRuleRequest& request : require) {
        check_required(policy, request, origins);
    }
    for (const PolicyRuleRequest& request : forbid) {
        check_forbidden(policy, request, origins);
    }
}

}  // namespace edgegpu::selinux
