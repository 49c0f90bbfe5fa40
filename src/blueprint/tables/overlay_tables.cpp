#include <algorithm>
#include <string>

#include "blueprint/tables/ownership.hpp"
#include "blueprint/tables/tables.hpp"
#include "blueprint/toml/validate.hpp"
#include "support/path_glob.hpp"
#include "support/source_location.hpp"
#include "support/written_secrets.hpp"

namespace edgegpu {

namespace {

constexpr std::int64_t deepest_path = 2048;

std::optional<std::string> read_rule_owner(const TableReader& table, std::string_view key) {
    return table.has(key) ? std::optional(read_owner(table, key, "root")) : std::nullopt;
}

/// "bin_t" or "system_u:object_r:bin_t:s0"; whether the policy defines it is checked later.
std::string read_label(const TableReader& table) {
    std::string label = table.string("label");
    if (!table.has("label")) {
        return label;
    }
    const auto colons = std::ranges::count(label, ':');
    const bool well_formed = is_plain_name(label, "_.:,-") && label.back() != ':' &&
                             label.find("::") == std::string::npos && colons != 1;
    if (!well_formed) {
        throw error_at(table, "label", "\"{}\" is neither an SELinux type nor a context", label)
            .hinted("as in label = \"bin_t\" or \"system_u:object_r:bin_t:s0\"");
    }
    return label;
}

std::string read_path_pattern(const TableReader& table) {
    std::string path = table.required_string("path");
    if (!path.starts_with('/')) {
        throw error_at(table, "path",
                       "\"{}\" must be a pattern of absolute paths in the image, not \"{}\"",
                       table.full_name("path"), path)
            .hinted("as in \"/usr/bin/*\" or \"/usr/lib/vendor/**\"");
    }
    try {
        static_cast<void>(PathGlob(path));
    } catch (const Error& malformed) {
        throw error_at(table, "path", "{}", malformed.message());
    }
    return path;
}

OverlayRule read_rule(const TableReader& table) {
    OverlayRule rule;
    rule.location = table.location();
    rule.path = read_path_pattern(table);
    rule.user = read_rule_owner(table, "user");
    rule.group = read_rule_owner(table, "group");
    rule.mode = read_mode(table);
    rule.label = read_label(table);
    table.finish();
    // An invalid value has been reported already: count the keys, not the values.
    if (table.keys().size() <= 1) {
        throw error_at(rule.location, "the rule for \"{}\" sets nothing", rule.path)
            .hinted("set user, group, mode or label");
    }
    return rule;
}

std::string read_overlay_target(const TableReader& table) {
    std::string target = table.string("target", "/");
    if (target != "/") {
        require_absolute_path(table.location("target"), table.full_name("target"), target);
        const std::string reason = unfit_path_reason(target);
        if (!reason.empty()) {
            throw error_at(table, "target", "an image cannot carry {}: {}", target, reason);
        }
    }
    return target;
}

}  // namespace

SecretAllowance read_secret_allowance(const TableReader& table) {
    SecretAllowance allowance;
    allowance.location = table.location();
    allowance.reason = table.string("reason");
    allowance.kind = table.has("kind") ? table.choice("kind", "", {registry_login, licence_token})
                                       : std::string();
    table.finish({"path"});
    allowance.path = read_path_pattern(table);
    if (!allowance.kind.empty() && allowance.path.find_first_of("*?[\\") != std::string::npos) {
        throw error_at(table, "path", "a {} is allowed in one file, not in \"{}\"", allowance.kind,
                       allowance.path)
            .hinted("write the whole path of the file, as the error without this table names it");
    }
    if (allowance.reason.find_first_not_of(' ') == std::string::npos) {
        throw error_at(table, "reason", "a secret is allowed without a reason")
            .hinted("say why everybody who gets the image may have it: reason = \"…\"");
    }
    return allowance;
}

OverlayRequest read_overlay(const TableReader& table, const ParseScope& scope) {
    OverlayRequest overlay;
    overlay.location = table.location();
    table.attempt([&] { overlay.target = read_overlay_target(table); });
    overlay.strip_components =
        static_cast<unsigned>(table.integer("strip_components", 0, deepest_path).value_or(0));
    table.attempt([&] { overlay.user = read_owner(table, "user", "root"); });
    table.attempt([&] { overlay.group = read_owner(table, "group", "root"); });
    overlay.replace = table.boolean("replace", false);
    table.each_table("rules",
                     [&](const TableReader& rule) { overlay.rules.push_back(read_rule(rule)); });
    table.finish({"source"});
    overlay.source = find_shipped(scope, "overlays",
                                  {table.required_string("source"), table.location("source")}, {});
    return overlay;
}

}  // namespace edgegpu
