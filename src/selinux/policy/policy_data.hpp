#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "execution/child_call.hpp"

namespace edgegpu::selinux {

/// One word of a condition in reverse polish notation, with libsepol's values (COND_…).
enum class ConditionWord : std::uint8_t {
    boolean = 1,
    negation = 2,
    disjunction = 3,
    conjunction = 4,
    exclusive = 5,
    equal = 6,
    unequal = 7
};

/// The condition of an `if` block of the policy.
struct Condition {
    struct Word {
        ConditionWord word = ConditionWord::boolean;
        /// index of PolicyData::booleans, for ConditionWord::boolean
        std::uint32_t boolean = 0;
    };
    std::vector<Word> words;
};

/// The branch of an `if` block that contains a rule.
struct Branch {
    /// index of PolicyData::conditions; -1: unconditional
    std::int32_t condition = -1;
    /// the branch for a true condition
    bool when = true;
};

/// `allow`; bit n of `permissions` is PolicyClass::permissions[n].
struct AvRule {
    std::uint32_t source = 0;
    std::uint32_t target = 0;
    std::uint32_t tclass = 0;
    std::uint32_t permissions = 0;
    Branch branch;
};

/// `type_transition`; `name` is a file name or empty.
struct TransitionRule {
    std::uint32_t source = 0;
    std::uint32_t target = 0;
    std::uint32_t tclass = 0;
    std::uint32_t type = 0;
    std::string name;
    Branch branch;
};

/// `allowxperm`: the numbers for which ioctl is allowed.
struct IoctlRule {
    std::uint32_t source = 0;
    std::uint32_t target = 0;
    std::uint32_t tclass = 0;
    /// "ioctl { 0x5401 0x8900-0x89ff }"
    std::string numbers;
    Branch branch;
};

struct PolicyClass {
    std::string name;
    /// by bit; empty for unused bits
    std::array<std::string, 32> permissions;
};

/// A type or an attribute.
struct PolicyType {
    std::string name;
    bool attribute = false;
    bool permissive = false;
    /// of an attribute: whether type n has it
    std::vector<bool> members;
    /// of a type: indices of its attributes
    std::vector<std::uint32_t> attributes;
};

/// The parts of a binary policy that edgegpu uses; types, classes, booleans and conditions are
/// indices of these vectors.
struct PolicyData {
    std::vector<PolicyType> types;
    /// every name of a type or attribute, aliases included
    std::map<std::string, std::uint32_t, std::less<>> type_names;
    std::vector<PolicyClass> classes;
    std::vector<std::pair<std::string, bool>> booleans;
    std::vector<Condition> conditions;
    /// sorted by class, source, target
    std::vector<AvRule> allow;
    std::vector<TransitionRule> transitions;
    std::vector<IoctlRule> ioctls;
};

/// Reads the content of a binary kernel policy ("policy.33") with libsepol, which checks its
/// consistency, in a child process with `policy_limits`. Throws Error with `name` if libsepol
/// cannot read it, or not within these limits.
[[nodiscard]] PolicyData read_policy(const Context& ctx, std::string content,
                                     const std::string& name);

/// The same in this process and without limits: a small file may take all memory, and hours.
[[nodiscard]] PolicyData parse_policy(std::string content, const std::string& name);

/// What reading a policy of `size` bytes may use: twice the memory and ten times the time that
/// policies of distributions need, and some more for small ones.
[[nodiscard]] ChildLimits policy_limits(std::size_t size);

/// The condition in the syntax of the policy language: "a", "a && !b".
[[nodiscard]] std::string condition_text(const PolicyData& policy, const Condition& condition);

/// Whether rules of `branch` are in force when the booleans have `values` (by index).
[[nodiscard]] bool in_force(const PolicyData& policy, const Branch& branch,
                            const std::vector<bool>& values);

}  // namespace edgegpu::selinux
