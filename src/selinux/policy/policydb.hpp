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

namespace edgegpu::selinux {

struct PolicyData;

/// A file of a policy is at most so large: ten times the largest there are.
inline constexpr std::uint64_t policy_limit = 256U << 20U;

/// A rule of a policy that gives what was asked for.
struct Grant {
    /// As the policy has it: attributes are not expanded; every permission of the rule.
    AllowRule rule;
    /// What must hold for it: empty, or an expression of booleans like "a && !b".
    std::string condition;
    /// The condition holds with the policy's own booleans.
    bool active = true;
    /// The fewest booleans to set, with their values, for an active one to be so no longer and for
    /// another to become active. Empty where no setting does it.
    std::map<std::string, bool> switches;
    /// One pair of types among those asked for that it gives the permission to.
    std::string source_type;
    std::string target_type;
};

/// A finished binary policy ("policy.33"), read with libsepol and kept as plain values: may be
/// copied, and asked from several threads.
///
/// Answers are about type enforcement only: role and user constraints, MLS levels, `typebounds`
/// and `allowxperm` may still deny what an allow rule gives, and in a permissive domain nothing is
/// denied. Names that the policy lacks give empty answers.
class PolicyDb {
public:
    /// Throws Error naming the file if libsepol cannot read it.
    explicit PolicyDb(const std::filesystem::path& path);
    /// The same for a policy's content; errors call it `name`.
    PolicyDb(std::string content, const std::string& name);

    /// Every boolean with its value.
    [[nodiscard]] std::map<std::string, bool> booleans() const;

    /// Names of all types, without aliases.
    [[nodiscard]] std::set<std::string> types() const;
    [[nodiscard]] std::set<std::string> attributes() const;
    /// A type or an alias of one.
    [[nodiscard]] bool has_type(std::string_view name) const;
    [[nodiscard]] bool has_attribute(std::string_view name) const;
    [[nodiscard]] std::set<std::string> attributes_of(std::string_view type) const;
    [[nodiscard]] std::set<std::string> types_of(std::string_view attribute) const;
    [[nodiscard]] std::set<std::string> classes() const;
    /// Permissions of a class, those it inherits included; empty: no such class.
    [[nodiscard]] std::set<std::string> permissions_of(std::string_view tclass) const;

    /// Every allow rule, in force or not, that gives `permission` to some pair of a source and a
    /// target type; attributes (of the question and of the rule) are expanded, the target "self"
    /// asks for pairs of a type with itself. `changed` are booleans that have another value than in
    /// the policy. Those in force first, then by the words of the policy.
    [[nodiscard]] std::vector<Grant> grants(std::string_view source, std::string_view target,
                                            std::string_view tclass, std::string_view permission,
                                            const std::map<std::string, bool>& changed = {}) const;
    /// The first pair of types that does not get one of the rule's permissions, or nothing: all
    /// do. `changed` as above.
    [[nodiscard]] std::optional<std::pair<std::string, std::string>> first_denied(
        const AllowRule& rule, const std::map<std::string, bool>& changed = {}) const;

    /// What two policies may differ in, one line each, attributes not expanded:
    /// "allow S T:C P" (one line for each permission), "allowxperm S T:C ioctl { … }",
    /// "type_transition S T:C N" with a file name in quotes where it has one; all these with
    /// " [ EXPRESSION ]:True" or ":False" behind them where they are conditional;
    /// "typeattribute T A" and "permissive T".
    [[nodiscard]] std::set<std::string> rule_lines() const;

private:
    std::shared_ptr<const PolicyData> data_;
};

}  // namespace edgegpu::selinux
