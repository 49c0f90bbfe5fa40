#include "blueprint/sources/policy_rule.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/error.hpp"

namespace edgegpu::selinux {

namespace {

bool is_name_part(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

/// Scanner for one rule.
class RuleText {
public:
    RuleText(std::string_view text, const SourceLocation& where) : text_(text), where_(where) {}

    [[nodiscard]] Error failure(std::string_view why) const {
        const std::string place = where_.file.empty() ? std::string() : where_.text() + ": ";
        return error(ErrorKind::usage, "{}not an allow rule: \"{}\": character {}: {}", place,
                     text_, at_ + 1, why)
            .hinted("write \"allow SOURCE TARGET:CLASS { PERMISSION… }\"");
    }
    char next() {
        while (at_ < text_.size() &&
               std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) {
            ++at_;
        }
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    bool take(char wanted) {
        if (next() != wanted) {
            return false;
        }
        ++at_;
        return true;
    }
    std::string name(std::string_view what) {
        const char first = next();
        if (first == '*' || first == '~' || first == '-') {
            throw failure("only names are supported, not * or exclusions");
        }
        std::size_t end = at_;
        while (end < text_.size() && is_name_part(text_[end])) {
            ++end;
        }
        if (end == at_) {
            throw failure(fmt::format("{} is missing", what));
        }
        std::string result(text_.substr(at_, end - at_));
        at_ = end;
        return result;
    }
    /// One name, or several in braces.
    std::vector<std::string> names(std::string_view what) {
        std::vector<std::string> result;
        if (!take('{')) {
            result.push_back(name(what));
            return result;
        }
        do {
            result.push_back(name(what));
            if (next() == '\0') {
                throw failure("'}' is missing");
            }
        } while (!take('}'));
        return result;
    }
    void expect_allow() {
        const std::size_t begin = at_;
        if (name("\"allow\"") != "allow") {
            at_ = begin;
            throw failure("only allow rules can be checked");
        }
    }
    void expect_end() {
        take(';');
        if (next() != '\0') {
            throw failure("something follows the rule");
        }
    }

private:
    std::string_view text_;
    const SourceLocation& where_;
    std::size_t at_ = 0;
};

}  // namespace

std::string AllowRule::text() const {
    return permissions.size() == 1
               ? fmt::format("allow {} {}:{} {}", source, target, tclass, *permissions.begin())
               : fmt::format("allow {} {}:{} {{ {} }}", source, target, tclass,
                             fmt::join(permissions, " "));
}

std::vector<AllowRule> parse_rule(std::string_view text, const SourceLocation& where) {
    RuleText rule(text, where);
    rule.expect_allow();
    const std::vector<std::string> sources = rule.names("the source type");
    if (std::ranges::find(sources, "self") != sources.end()) {
        throw rule.failure("\"self\" can only be the target");
    }
    const std::vector<std::string> targets = rule.names("the target type");
    if (!rule.take(':')) {
        throw rule.failure("':' and a class are missing");
    }
    const std::vector<std::string> classes = rule.names("the class");
    const std::vector<std::string> permissions = rule.names("the permission");
    rule.expect_end();
    std::vector<AllowRule> result;
    for (const std::string& source : sources) {
        for (const std::string& target : targets) {
            for (const std::string& tclass : classes) {
                result.push_back(
                    {source, target, tclass, {permissions.begin(), permissions.end()}});
            }
        }
    }
    return result;
}

}  // namespace edgegpu::selinux
