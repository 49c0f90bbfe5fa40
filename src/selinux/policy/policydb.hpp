#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "blueprint/sources/policy_rule.hpp"
#include "execution/context.hpp"

namespace edgegpu::selinux {

struct PolicyData;

/// Largest size of a policy file in bytes: ten times that of existing policies.
inline constexpr std::uint64_t policy_limit = 256U << 20U;

/// A rule of a policy that gives a requested permission.
struct Grant {
    /// The rule in the policy, with all its permissions; attributes are not expanded.
    AllowRule rule;
    /// The condition of the rule: empty, or an expression of booleans like "a && !b".
    std::string condition;
    /// Whether the condition is true with the values of booleans in the query.
    bool active = true;
    /// The smallest set of booleans, with values, that makes an active rule inactive or an inactive
    /// one active. Empty if there is none, or the condition has more than 12 booleans.
    std::map<std::string, bool> switches;
    /// One of the requested pairs of types for which it gives the permission.
    std::string source_type;
    std::string target_type;
};

/// The file name "policy.NN" with the highest number, which systemd loads, among `names`; empty if
/// there is none.
[[nodiscard]] std::string newest_policy(const std::vector<std::string>& names);

/// A finished binary policy ("policy.33"), read with libsepol. Can be copied; thread-safe.
///
/// Only type enforcement is considered: role and user constraints, MLS levels, `typebounds` and
/// `allowxperm` may deny what an allow rule gives, and in a permissive domain nothing is denied.
/// Queries for names that the policy does not have return empty results.
class PolicyDb {
public:
    /// Throws Error with the path if libsepol cannot read the file.
    PolicyDb(const Context& ctx, const std::filesystem::path& path);
    /// The same for a policy's content; `name` is for errors.
    PolicyDb(const Context& ctx, std::string content, const std::string& name);
    /// Of what was read.
    explicit PolicyDb(PolicyData data);

    /// All booleans with their values.
    [[nodiscard]] std::map<std::string, bool> booleans() const;

    /// Names of all types, without aliases.
    [[nodiscard]] std::set<std::string> types() const;
    [[nodiscard]] std::set<std::string> attributes() const;
    /// Whether it is a type or an alias of one.
    [[nodiscard]] bool has_type(std::string_view name) const;
    [[nodiscard]] bool has_attribute(std::string_view name) const;
    [[nodiscard]] std::set<std::string> attributes_of(std::string_view type) const;
    [[nodiscard]] std::set<std::string> types_of(std::string_view attribute) const;
    [[nodiscard]] std::set<std::string> classes() const;
    /// Permissions of a class, including inherited ones; empty if there is no such class.
    [[nodiscard]] std::set<std::string> permissions_of(std::string_view tclass) const;

    /// All allow rules, in force or not, that give `permission` to any pair of a source and a
    /// target type. Attributes in arguments and rules are expanded; the target "self" means pairs
    /// of a type with itself. `changed` has booleans with a value that differs from the policy's.
    /// Rules in force come first, then by source, target and condition.
    [[nodiscard]] std::vector<Grant> grants(std::string_view source, std::string_view target,
                                            std::string_view tclass, std::string_view permission,
                                            const std::map<std::string, bool>& changed = {}) const;
    /// The first pair of types that does not get all permissions of the rule, or nothing. `changed`
    /// as above.
    [[nodiscard]] std::optional<std::pair<std::string, std::string>> first_denied(
        const AllowRule& rule, const std::map<std::string, bool>& changed = {}) const;

    /// The rules as lines, for comparison of policies; attributes are not expanded: "allow S T:C P"
    /// (one line for each permission), "allowxperm S T:C ioctl { … }", "type_transition S T:C N"
    /// with a file name in quotes if it has one, all these with " [ EXPRESSION ]:True" or ":False"
    /// appended if they are conditional; "typeattribute T A" and "permissive T".
    [[nodiscard]] std::set<std::string> rule_lines() const;

private:
    std::shared_ptr<const PolicyData> data_;
};

}  // namespace edgegpu::selinux
