#include "selinux/policy/modules.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "blueprint/sources/policy_rule.hpp"
#include "blueprint/stored_source.hpp"
#include "support/error.hpp"
#include "support/files/decompress.hpp"
#include "support/files/file.hpp"
#include "support/text/number.hpp"

namespace edgegpu::selinux {

namespace fs = std::filesystem;

namespace {

/// Priority and name of a module in a store: "STORE/active/modules/100/base/cil".
struct StoredName {
    int priority = 0;
    std::string name;
};

/// Parses a path below active/modules; priority 0 if it is not the CIL of a module.
StoredName stored_name(std::string_view rest) {
    const std::size_t slash = rest.find('/');
    constexpr std::string_view file = "/cil";
    StoredName result;
    if (slash == std::string_view::npos || !rest.ends_with(file) ||
        rest.size() <= slash + 1 + file.size()) {
        return result;
    }
    const std::string_view name = rest.substr(slash + 1, rest.size() - slash - 1 - file.size());
    const auto priority = whole_number<int>(rest.substr(0, slash));
    if (!priority || name.find('/') != std::string_view::npos) {
        return {};
    }
    result.priority = *priority;
    result.name = name;
    return result;
}

/// Adds an alias or attribute that one statement gives to `names`; whether anything was new.
bool add_membership(const CilNode& statement, std::set<std::string>& names) {
    const std::vector<CilNode>& words = statement.items;
    if (words.size() != 3) {
        return false;
    }
    if (words[0].atom == "typealiasactual") {
        // (typealiasactual ALIAS TYPE): both names denote the same type.
        if (names.contains(words[1].atom) || names.contains(words[2].atom)) {
            const bool first = names.insert(words[1].atom).second;
            return names.insert(words[2].atom).second || first;
        }
        return false;
    }
    // cil_gen_require is no attribute, but lists what a module requires.
    return words[0].atom == "typeattributeset" && words[1].atom != "cil_gen_require" &&
           !names.contains(words[1].atom) && contains_any(words[2], names) &&
           names.insert(words[1].atom).second;
}

/// The names in a list of permissions; empty if it is an expression.
std::set<std::string> plain_names(const CilNode& list) {
    std::set<std::string> names;
    for (const CilNode& item : list.items) {
        if (!item.items.empty()) {
            return {};
        }
        names.insert(item.atom);
    }
    return names;
}

/// (allow S T (C (P…))) as a rule; its class is empty for any other statement.
AllowRule allow_rule(const CilNode& statement) {
    const std::vector<CilNode>& words = statement.items;
    if (words.size() != 4 || words[0].atom != "allow" || words[3].items.size() != 2) {
        return {};
    }
    return {words[1].atom, words[2].atom, words[3].items[0].atom, plain_names(words[3].items[1])};
}

bool gives(const AllowRule& rule, const NamedAccess& access) {
    return rule.tclass == access.tclass && access.sources.contains(rule.source) &&
           (rule.target == "self" ? access.self : access.targets.contains(rule.target));
}

/// Finds the unconditional allow rules of a `.te`.
class TeScanner {
public:
    explicit TeScanner(const std::string& text) : text_(text) {}

    [[nodiscard]] std::vector<AllowRule> rules() {
        std::vector<AllowRule> result;
        for (skip_space(); at_ < text_.size(); skip_space()) {
            const std::size_t begin = at_;
            const std::string_view word = take_word();
            if (word == "allow") {
                at_ = std::min(text_.find(';', at_), text_.size());
                add_rule(text_.substr(begin, at_ - begin), result);
            } else if (word == "if" || word == "optional" || word == "else") {
                skip_block();
            } else if (!word.empty() && next() == '(') {
                // Arguments of a macro, which only m4 can expand.
                skip_list();
            } else if (word.empty()) {
                ++at_;
            }
        }
        return result;
    }

private:
    static void add_rule(const std::string& text, std::vector<AllowRule>& result) {
        try {
            for (AllowRule& rule : parse_rule(text, {})) {
                result.push_back(std::move(rule));
            }
        } catch (const Error&) {
            // Not a plain rule: only the compiler knows what it gives.
            return;
        }
    }
    void skip_space() {
        while (at_ < text_.size()) {
            if (text_[at_] == '#') {
                at_ = std::min(text_.find('\n', at_), text_.size());
            } else if (std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) {
                ++at_;
            } else {
                return;
            }
        }
    }
    std::string_view take_word() {
        const auto part = [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                   c == '_' || c == '-' || c == '.';
        };
        const std::size_t begin = at_;
        while (at_ < text_.size() && part(text_[at_])) {
            ++at_;
        }
        return std::string_view(text_).substr(begin, at_ - begin);
    }
    char next() {
        skip_space();
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    /// Skips a list in parentheses or braces.
    void skip_list() {
        std::size_t open = 0;
        do {
            const char c = next();
            open += c == '(' || c == '{' ? 1 : 0;
            open -= c == ')' || c == '}' ? 1 : 0;
            ++at_;
        } while (open > 0 && at_ < text_.size());
    }
    /// Skips "(condition) { … }" or "{ … }".
    void skip_block() {
        if (next() == '(') {
            skip_list();
        }
        if (next() == '{') {
            skip_list();
        }
    }

    const std::string& text_;
    std::size_t at_ = 0;
};

}  // namespace

std::string read_module_file(const fs::path& file) {
    return decompress(read_file(file, module_limit), module_limit, file.string());
}

std::vector<ModuleText> store_modules(const Entries& entries, const std::string& store) {
    const std::string prefix = store + "/active/modules/";
    std::map<std::string, std::pair<int, const Entry*>> newest;
    for (const auto& [path, entry] : entries_below(entries, prefix)) {
        const StoredName stored = stored_name(std::string_view(path).substr(prefix.size()));
        if (stored.priority > 0 && entry.type == EntryType::file &&
            stored.priority > newest[stored.name].first) {
            newest[stored.name] = {stored.priority, &entry};
        }
    }
    std::vector<ModuleText> result;
    for (const auto& [name, module] : newest) {
        if (module.second != nullptr && !entries.contains(prefix + "disabled/" + name)) {
            result.push_back({name, module.first, read_module_file(module.second->content)});
        }
    }
    return result;
}

void add_memberships(const std::vector<ModuleText>& modules, std::set<std::string>& names) {
    // Repeated, as an attribute may become a member of another one before it gets members itself.
    for (bool changed = true; changed;) {
        changed = false;
        for (const ModuleText& module : modules) {
            read_cil(module.cil, module.name, [&](const CilNode& statement, const auto&) {
                changed = add_membership(statement, names) || changed;
            });
        }
    }
}

std::vector<ModuleGrant> find_granting_rules(const std::vector<ModuleText>& modules,
                                             const NamedAccess& access) {
    std::vector<ModuleGrant> result;
    for (const ModuleText& module : modules) {
        read_cil(
            module.cil, module.name,
            [&](const CilNode& statement, const std::vector<CilCondition>& conditions) {
                AllowRule rule = allow_rule(statement);
                if (gives(rule, access)) {
                    result.push_back({module.name, module.priority, std::move(rule), conditions});
                }
            });
    }
    return result;
}

std::vector<AllowRule> source_rules(const fs::path& source) {
    std::vector<AllowRule> result;
    if (source.extension() == ".te") {
        return TeScanner(read_file(source, module_limit)).rules();
    }
    if (source.extension() == ".cil") {
        read_cil(read_file(source, module_limit), path_of_user(source).string(),
                 [&](const CilNode& statement, const std::vector<CilCondition>& conditions) {
                     AllowRule rule = allow_rule(statement);
                     if (conditions.empty() && !rule.permissions.empty()) {
                         result.push_back(std::move(rule));
                     }
                 });
    }
    return result;
}

}  // namespace edgegpu::selinux
