#include "selinux/policy/policydb.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "selinux/policy/policy_data.hpp"
#include "support/files/file.hpp"
#include "support/ranges.hpp"

namespace edgegpu::selinux {

namespace {

/// `switches` are searched for conditions of up to this many booleans (2^n settings).
constexpr std::size_t switch_limit = 12;

const PolicyType* find_type(const PolicyData& policy, std::string_view name) {
    const auto found = policy.type_names.find(name);
    return found == policy.type_names.end() ? nullptr : &policy.types[found->second];
}

/// Index of a class, or the number of classes.
std::uint32_t find_class(const PolicyData& policy, std::string_view name) {
    const auto found = std::ranges::find(policy.classes, name, &PolicyClass::name);
    return static_cast<std::uint32_t>(found - policy.classes.begin());
}

/// The permission's bit, or 0.
std::uint32_t find_permission(const PolicyClass& tclass, std::string_view name) {
    const auto found = std::ranges::find(tclass.permissions, name);
    return name.empty() || found == tclass.permissions.end()
               ? 0
               : 1U << static_cast<unsigned>(found - tclass.permissions.begin());
}

/// Indices of the types that the name of a type or attribute denotes.
std::vector<std::uint32_t> expand(const PolicyData& policy, std::string_view name) {
    std::vector<std::uint32_t> result;
    const auto found = policy.type_names.find(name);
    if (found == policy.type_names.end()) {
        return result;
    }
    const PolicyType& type = policy.types[found->second];
    if (!type.attribute) {
        result.push_back(found->second);
    }
    for (std::uint32_t index = 0; index < type.members.size(); ++index) {
        if (type.members[index]) {
            result.push_back(index);
        }
    }
    return result;
}

/// Whether a type or attribute of a rule includes a type.
bool covers(const PolicyData& policy, std::uint32_t of_rule, std::uint32_t type) {
    const PolicyType& name = policy.types[of_rule];
    return of_rule == type || (name.attribute && name.members[type]);
}

/// A query about pairs of types, in indices.
struct Question {
    std::vector<std::uint32_t> sources;
    std::vector<std::uint32_t> targets;
    /// pairs of a source with itself, instead of targets
    bool self = false;
    std::uint32_t tclass = 0;
};

std::optional<Question> ask(const PolicyData& policy, std::string_view source,
                            std::string_view target, std::string_view tclass) {
    Question question;
    question.tclass = find_class(policy, tclass);
    if (question.tclass == policy.classes.size()) {
        return std::nullopt;
    }
    question.sources = expand(policy, source);
    question.self = target == "self";
    if (!question.self) {
        question.targets = expand(policy, target);
    }
    return question;
}

/// The first pair of the query to which the rule applies.
std::optional<std::pair<std::uint32_t, std::uint32_t>> first_pair(const PolicyData& policy,
                                                                  const Question& question,
                                                                  const AvRule& rule) {
    for (const std::uint32_t source : question.sources) {
        if (!covers(policy, rule.source, source)) {
            continue;
        }
        if (question.self) {
            if (covers(policy, rule.target, source)) {
                return std::pair(source, source);
            }
            continue;
        }
        for (const std::uint32_t target : question.targets) {
            if (covers(policy, rule.target, target)) {
                return std::pair(source, target);
            }
        }
        return std::nullopt;
    }
    return std::nullopt;
}

std::vector<bool> values_of(const PolicyData& policy, const std::map<std::string, bool>& changed) {
    std::vector<bool> values;
    values.reserve(policy.booleans.size());
    for (const auto& [name, value] : policy.booleans) {
        const auto found = changed.find(name);
        values.push_back(found == changed.end() ? value : found->second);
    }
    return values;
}

/// The smallest change of booleans that puts a branch in force, or out of force if it is.
std::map<std::string, bool> find_switches(const PolicyData& policy, const Branch& branch,
                                          const std::vector<bool>& now) {
    if (branch.condition < 0) {
        return {};
    }
    const bool wanted = !in_force(policy, branch, now);
    std::vector<std::uint32_t> used;
    for (const Condition::Word& word :
         policy.conditions[static_cast<std::size_t>(branch.condition)].words) {
        if (word.word == ConditionWord::boolean &&
            std::ranges::find(used, word.boolean) == used.end()) {
            used.push_back(word.boolean);
        }
    }
    std::map<std::string, bool> best;
    for (std::uint32_t chosen = 1; used.size() <= switch_limit && chosen < 1U << used.size();
         ++chosen) {
        std::vector<bool> values = now;
        std::map<std::string, bool> changes;
        for (std::size_t i = 0; i < used.size(); ++i) {
            if ((chosen >> i & 1U) != 0) {
                values[used[i]] = !values[used[i]];
                changes[policy.booleans[used[i]].first] = values[used[i]];
            }
        }
        if ((best.empty() || changes.size() < best.size()) &&
            in_force(policy, branch, values) == wanted) {
            best = std::move(changes);
        }
    }
    return best;
}

/// The condition of a branch as text.
std::string branch_text(const PolicyData& policy, const Branch& branch) {
    if (branch.condition < 0) {
        return {};
    }
    const Condition& condition = policy.conditions[static_cast<std::size_t>(branch.condition)];
    std::string text = condition_text(policy, condition);
    if (branch.when) {
        return text;
    }
    return condition.words.size() == 1 ? "!" + text : fmt::format("!({})", text);
}

Grant make_grant(const PolicyData& policy, const AvRule& rule,
                 const std::pair<std::uint32_t, std::uint32_t>& pair,
                 const std::vector<bool>& values) {
    Grant grant;
    const PolicyClass& tclass = policy.classes[rule.tclass];
    grant.rule.source = policy.types[rule.source].name;
    grant.rule.target = policy.types[rule.target].name;
    grant.rule.tclass = tclass.name;
    for (unsigned bit = 0; bit < tclass.permissions.size(); ++bit) {
        if ((rule.permissions >> bit & 1U) != 0) {
            grant.rule.permissions.insert(tclass.permissions[bit]);
        }
    }
    grant.condition = branch_text(policy, rule.branch);
    grant.active = in_force(policy, rule.branch, values);
    grant.switches = find_switches(policy, rule.branch, values);
    grant.source_type = policy.types[pair.first].name;
    grant.target_type = policy.types[pair.second].name;
    return grant;
}

/// The rules about a class.
auto rules_of(const PolicyData& policy, std::uint32_t tclass) {
    struct ByClass {
        bool operator()(const AvRule& rule, std::uint32_t value) const {
            return rule.tclass < value;
        }
        bool operator()(std::uint32_t value, const AvRule& rule) const {
            return value < rule.tclass;
        }
    };
    return std::equal_range(policy.allow.begin(), policy.allow.end(), tclass, ByClass{});
}

/// The first target for which `source` does not get all permissions of `wanted`.
std::optional<std::uint32_t> first_denied_target(const PolicyData& policy, std::uint32_t source,
                                                 std::uint32_t tclass,
                                                 const std::vector<std::uint32_t>& targets,
                                                 std::uint32_t wanted,
                                                 const std::vector<bool>& values) {
    std::vector<std::uint32_t> missing(targets.size(), wanted);
    const auto [first, last] = rules_of(policy, tclass);
    for (auto rule = first; rule != last; ++rule) {
        if ((rule->permissions & wanted) == 0 || !covers(policy, rule->source, source) ||
            !in_force(policy, rule->branch, values)) {
            continue;
        }
        for (std::size_t i = 0; i < targets.size(); ++i) {
            if (missing[i] != 0 && covers(policy, rule->target, targets[i])) {
                missing[i] &= ~rule->permissions;
            }
        }
    }
    const auto denied =
        std::ranges::find_if(missing, [](std::uint32_t permissions) { return permissions != 0; });
    return denied == missing.end()
               ? std::nullopt
               : std::optional(targets[static_cast<std::size_t>(denied - missing.begin())]);
}

}  // namespace

std::string newest_policy(const std::vector<std::string>& names) {
    constexpr std::string_view prefix = "policy.";
    std::pair<std::size_t, std::string> best;
    for (const std::string& name : names) {
        const bool numbered =
            name.starts_with(prefix) && name.size() > prefix.size() &&
            name.find_first_not_of("0123456789", prefix.size()) == std::string::npos;
        if (numbered) {
            // Longer numbers are larger.
            best = std::max(best, {name.size(), name});
        }
    }
    return best.second;
}

PolicyDb::PolicyDb(const Context& ctx, const std::filesystem::path& path)
    : PolicyDb(ctx, read_file(path, policy_limit), path.string()) {}

PolicyDb::PolicyDb(const Context& ctx, std::string content, const std::string& name)
    : PolicyDb(read_policy(ctx, std::move(content), name)) {}

PolicyDb::PolicyDb(PolicyData data) : data_(std::make_shared<const PolicyData>(std::move(data))) {}

std::map<std::string, bool> PolicyDb::booleans() const {
    return {data_->booleans.begin(), data_->booleans.end()};
}

std::set<std::string> PolicyDb::types() const {
    std::set<std::string> result;
    for (const PolicyType& type : data_->types) {
        if (!type.attribute) {
            result.insert(type.name);
        }
    }
    return result;
}

std::set<std::string> PolicyDb::attributes() const {
    std::set<std::string> result;
    for (const PolicyType& type : data_->types) {
        if (type.attribute) {
            result.insert(type.name);
        }
    }
    return result;
}

bool PolicyDb::has_type(std::string_view name) const {
    const PolicyType* type = find_type(*data_, name);
    return type != nullptr && !type->attribute;
}

bool PolicyDb::has_attribute(std::string_view name) const {
    const PolicyType* type = find_type(*data_, name);
    return type != nullptr && type->attribute;
}

std::set<std::string> PolicyDb::attributes_of(std::string_view type) const {
    std::set<std::string> result;
    if (const PolicyType* found = find_type(*data_, type)) {
        for (const std::uint32_t attribute : found->attributes) {
            result.insert(data_->types[attribute].name);
        }
    }
    return result;
}

std::set<std::string> PolicyDb::types_of(std::string_view attribute) const {
    std::set<std::string> result;
    if (has_attribute(attribute)) {
        for (const std::uint32_t type : expand(*data_, attribute)) {
            result.insert(data_->types[type].name);
        }
    }
    return result;
}

std::set<std::string> PolicyDb::classes() const {
    return mapped_to<std::set<std::string>>(data_->classes, &PolicyClass::name);
}

std::set<std::string> PolicyDb::permissions_of(std::string_view tclass) const {
    std::set<std::string> result;
    const std::uint32_t index = find_class(*data_, tclass);
    if (index < data_->classes.size()) {
        const auto& permissions = data_->classes[index].permissions;
        std::ranges::copy_if(permissions, std::inserter(result, result.end()),
                             [](const std::string& name) { return !name.empty(); });
    }
    return result;
}

std::vector<Grant> PolicyDb::grants(std::string_view source, std::string_view target,
                                    std::string_view tclass, std::string_view permission,
                                    const std::map<std::string, bool>& changed) const {
    std::vector<Grant> result;
    const std::optional<Question> question = ask(*data_, source, target, tclass);
    if (!question) {
        return result;
    }
    const std::uint32_t wanted = find_permission(data_->classes[question->tclass], permission);
    const std::vector<bool> values = values_of(*data_, changed);
    const auto [first, last] = rules_of(*data_, question->tclass);
    for (auto rule = first; rule != last; ++rule) {
        if ((rule->permissions & wanted) != 0) {
            if (const auto pair = first_pair(*data_, *question, *rule)) {
                result.push_back(make_grant(*data_, *rule, *pair, values));
            }
        }
    }
    std::ranges::sort(result, [](const Grant& a, const Grant& b) {
        return std::tie(b.active, a.rule.source, a.rule.target, a.condition) <
               std::tie(a.active, b.rule.source, b.rule.target, b.condition);
    });
    return result;
}

std::optional<std::pair<std::string, std::string>> PolicyDb::first_denied(
    const AllowRule& rule, const std::map<std::string, bool>& changed) const {
    const std::optional<Question> question = ask(*data_, rule.source, rule.target, rule.tclass);
    if (!question) {
        return std::pair(rule.source, rule.target);
    }
    const PolicyClass& tclass = data_->classes[question->tclass];
    std::uint32_t wanted = 0;
    for (const std::string& permission : rule.permissions) {
        const std::uint32_t bit = find_permission(tclass, permission);
        if (bit == 0) {
            return std::pair(rule.source, rule.target);
        }
        wanted |= bit;
    }
    if (question->sources.empty() || (!question->self && question->targets.empty())) {
        return std::pair(rule.source, rule.target);
    }
    const std::vector<bool> values = values_of(*data_, changed);
    for (const std::uint32_t source : question->sources) {
        const std::vector<std::uint32_t> itself{source};
        const auto denied =
            first_denied_target(*data_, source, question->tclass,
                                question->self ? itself : question->targets, wanted, values);
        if (denied) {
            return std::pair(data_->types[source].name, data_->types[*denied].name);
        }
    }
    return std::nullopt;
}

}  // namespace edgegpu::selinux
