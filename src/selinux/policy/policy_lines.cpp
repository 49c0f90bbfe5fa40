#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "selinux/policy/policy_data.hpp"
#include "selinux/policy/policydb.hpp"

namespace edgegpu::selinux {

namespace {

/// Precedence of an operator in a condition; an operand has the highest.
int binding(ConditionWord word) {
    switch (word) {
        case ConditionWord::disjunction:
            return 1;
        case ConditionWord::exclusive:
            return 2;
        case ConditionWord::conjunction:
            return 3;
        case ConditionWord::equal:
        case ConditionWord::unequal:
            return 4;
        case ConditionWord::negation:
            return 5;
        case ConditionWord::boolean:
            break;
    }
    return 6;
}

const char* operator_text(ConditionWord word) {
    switch (word) {
        case ConditionWord::disjunction:
            return "||";
        case ConditionWord::exclusive:
            return "^";
        case ConditionWord::conjunction:
            return "&&";
        case ConditionWord::equal:
            return "==";
        case ConditionWord::unequal:
            return "!=";
        case ConditionWord::negation:
        case ConditionWord::boolean:
            break;
    }
    return "!";
}

bool apply(ConditionWord word, bool left, bool right) {
    switch (word) {
        case ConditionWord::disjunction:
            return left || right;
        case ConditionWord::conjunction:
            return left && right;
        case ConditionWord::equal:
            return left == right;
        case ConditionWord::exclusive:
        case ConditionWord::unequal:
        case ConditionWord::negation:
        case ConditionWord::boolean:
            break;
    }
    return left != right;
}

bool evaluate(const Condition& condition, const std::vector<bool>& values) {
    std::vector<bool> stack;
    for (const Condition::Word& word : condition.words) {
        if (word.word == ConditionWord::boolean) {
            stack.push_back(values[word.boolean]);
        } else if (word.word == ConditionWord::negation) {
            stack.back() = !stack.back();
        } else {
            const bool right = stack.back();
            stack.pop_back();
            stack.back() = apply(word.word, stack.back(), right);
        }
    }
    return stack.back();
}

/// Formats parts of lines; condition texts are made once.
class Lines {
public:
    explicit Lines(const PolicyData& policy) : policy_(policy) {
        for (const Condition& condition : policy.conditions) {
            conditions_.push_back(condition_text(policy, condition));
        }
    }

    /// Appends " [ EXPRESSION ]:True" to `line` for a conditional rule.
    void add_branch(std::string& line, const Branch& branch) const {
        if (branch.condition >= 0) {
            line.append(" [ ")
                .append(conditions_[static_cast<std::size_t>(branch.condition)])
                .append(branch.when ? " ]:True" : " ]:False");
        }
    }
    /// "allow S T:C "
    template <typename Rule>
    [[nodiscard]] std::string head(std::string_view keyword, const Rule& rule) const {
        std::string line(keyword);
        line.append(" ").append(policy_.types[rule.source].name);
        line.append(" ").append(policy_.types[rule.target].name);
        return line.append(":").append(policy_.classes[rule.tclass].name).append(" ");
    }

private:
    const PolicyData& policy_;
    std::vector<std::string> conditions_;
};

void add_allow_lines(const PolicyData& policy, const Lines& lines,
                     std::vector<std::string>& result) {
    for (const AvRule& rule : policy.allow) {
        const std::string head = lines.head("allow", rule);
        const auto& permissions = policy.classes[rule.tclass].permissions;
        for (unsigned bit = 0; bit < permissions.size(); ++bit) {
            if ((rule.permissions >> bit & 1U) != 0 && !permissions[bit].empty()) {
                std::string line = head + permissions[bit];
                lines.add_branch(line, rule.branch);
                result.push_back(std::move(line));
            }
        }
    }
}

void add_other_lines(const PolicyData& policy, const Lines& lines,
                     std::vector<std::string>& result) {
    for (const IoctlRule& rule : policy.ioctls) {
        std::string line = lines.head("allowxperm", rule) + rule.numbers;
        lines.add_branch(line, rule.branch);
        result.push_back(std::move(line));
    }
    for (const TransitionRule& rule : policy.transitions) {
        std::string line = lines.head("type_transition", rule) + policy.types[rule.type].name;
        if (!rule.name.empty()) {
            line.append(" \"").append(rule.name).append("\"");
        }
        lines.add_branch(line, rule.branch);
        result.push_back(std::move(line));
    }
    for (const PolicyType& type : policy.types) {
        for (const std::uint32_t attribute : type.attributes) {
            result.push_back(
                fmt::format("typeattribute {} {}", type.name, policy.types[attribute].name));
        }
        if (type.permissive) {
            result.push_back("permissive " + type.name);
        }
    }
}

}  // namespace

std::string condition_text(const PolicyData& policy, const Condition& condition) {
    std::vector<std::pair<std::string, int>> stack;
    const auto operand = [&](int within) {
        auto [text, binds] = std::move(stack.back());
        stack.pop_back();
        return binds < within ? fmt::format("({})", text) : text;
    };
    for (const Condition::Word& word : condition.words) {
        const int binds = binding(word.word);
        if (word.word == ConditionWord::boolean) {
            stack.emplace_back(policy.booleans[word.boolean].first, binds);
        } else if (word.word == ConditionWord::negation) {
            stack.emplace_back("!" + operand(binds), binds);
        } else {
            // The same operator in the right operand requires parentheses.
            const std::string right = operand(binds + 1);
            const std::string left = operand(binds);
            stack.emplace_back(fmt::format("{} {} {}", left, operator_text(word.word), right),
                               binds);
        }
    }
    return stack.back().first;
}

bool in_force(const PolicyData& policy, const Branch& branch, const std::vector<bool>& values) {
    return branch.condition < 0 ||
           evaluate(policy.conditions[static_cast<std::size_t>(branch.condition)], values) ==
               branch.when;
}

std::set<std::string> PolicyDb::rule_lines() const {
    const Lines lines(*data_);
    std::vector<std::string> result;
    add_allow_lines(*data_, lines, result);
    add_other_lines(*data_, lines, result);
    std::ranges::sort(result);
    return {std::make_move_iterator(result.begin()), std::make_move_iterator(result.end())};
}

}  // namespace edgegpu::selinux
