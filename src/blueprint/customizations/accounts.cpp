#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "blueprint/customizations/customizations.hpp"
#include "blueprint/customizations/password_hash.hpp"
#include "blueprint/customizations/ssh_key.hpp"
#include "blueprint/toml/validate.hpp"
#include "support/source_location.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::int64_t largest_id = 0xFFFFFFFELL;  // (uid_t)-1 means "no id"

std::optional<std::uint32_t> read_id(const TableReader& table, std::string_view key) {
    const std::optional<std::int64_t> id = table.integer(key, 0, largest_id);
    return id ? std::optional(static_cast<std::uint32_t>(*id)) : std::nullopt;
}

/// One or more lines of authorized_keys; empty if there are none, or if one is invalid, which is
/// noted.
std::string read_public_key(const TableReader& table) {
    const std::string text = table.text("key");
    const std::string keys(trim_end(text));
    const bool right = table.attempt([&] {
        bool any = !table.has("key");
        for (const std::string_view part : lines_of(keys)) {
            std::string line(part);
            std::ranges::replace(line, '\t', ' ');
            if (!line.empty() && line.back() == '\r') {
                line.pop_back();
            }
            if (has_control_characters(line)) {
                throw error_at(table, "key", "\"{}\" contains a control character",
                               table.full_name("key"));
            }
            const std::string_view plain = trim(line);
            any = any || (!plain.empty() && !plain.starts_with('#'));
            const KeyFault fault = ssh_key_fault(line);
            if (!fault.reason.empty()) {
                throw error_at(table, "key", "\"{}\": {}", table.full_name("key"), fault.reason)
                    .hinted(fault.hint);
            }
        }
        if (!any) {
            throw error_at(table, "key", "\"{}\" has no key in it", table.full_name("key"))
                .hinted("give the line of the .pub file, or remove \"key\"");
        }
    });
    return right ? keys : std::string();
}

std::optional<std::string> read_password(const TableReader& table) {
    if (!table.has("password")) {
        return std::nullopt;
    }
    std::string password = table.string("password");
    const std::string fault = password_hash_fault(password);
    if (!fault.empty()) {
        // The text is not quoted: it may be a real password.
        table.note(error_at(table, "password", "\"{}\" must be a crypt(3) hash, and this is {}",
                            table.full_name("password"), fault)
                       .hinted("create one with: openssl passwd -6"));
    }
    return password;
}

/// Reads a field of passwd(5).
std::string read_passwd_field(const TableReader& table, std::string_view key) {
    std::string value = table.string(key);
    if (value.find(':') != std::string::npos) {
        table.note(error_at(table, key, "\"{}\" must not contain ':'", table.full_name(key)));
        return {};
    }
    return value;
}

std::string read_passwd_path(const TableReader& table, std::string_view key) {
    std::string path = read_passwd_field(table, key);
    // Home directories are often written with a trailing slash.
    while (key == "home" && path.size() > 1 && path.ends_with('/') && !path.ends_with("//")) {
        path.pop_back();
    }
    if (!path.empty()) {
        table.attempt(
            [&] { require_absolute_path(table.location(key), table.full_name(key), path); });
    }
    return path;
}

}  // namespace

void read_user(const TableReader& table, Blueprint& blueprint) {
    UserRequest user;
    user.location = table.location();
    user.description = read_passwd_field(table, "description");
    user.password = read_password(table);
    user.key = read_public_key(table);
    user.home = read_passwd_path(table, "home");
    user.shell = read_passwd_path(table, "shell");
    user.groups = table.checked_strings("groups", [](const SourceLocation& at, const auto& name) {
        require_account_name(at, "group", name);
    });
    user.uid = read_id(table, "uid");
    user.gid = read_id(table, "gid");
    // Days, as in shadow(5); shadow-utils ignore later dates.
    constexpr std::int64_t last_day = 0x7FFFFFFF;
    if (const auto day = table.integer("expiredate", 0, last_day)) {
        user.expire_date = static_cast<std::uint32_t>(*day);
    }
    user.force_password_reset = table.boolean("force_password_reset", false);
    table.finish({"name"});
    user.name = table.required_string("name");
    require_account_name(table.location("name"), "user", user.name);
    if (user.force_password_reset && !is_usable_password(user.password.value_or(""))) {
        table.note(error_at(table, "force_password_reset",
                            "user \"{}\" has no password to change at the first login", user.name)
                       .hinted("set \"password\" too, or omit \"force_password_reset\""));
    }
    require_new(blueprint.users, &UserRequest::name, user, user.location, "user");
    blueprint.users.push_back(std::move(user));
}

/// Image builder's older syntax for the key of a user.
void read_ssh_key(const TableReader& table, Blueprint& blueprint) {
    const std::string key = read_public_key(table);
    table.finish({"user"});
    if (!table.has("key")) {
        table.note(error_at(table.location(), "\"{}\" is missing", table.full_name("key")));
    }
    const std::string name = table.required_string("user");
    require_account_name(table.location("user"), "user", name);
    const auto user = std::ranges::find_if(
        blueprint.users, [&](const UserRequest& known) { return known.name == name; });
    if (user == blueprint.users.end()) {
        UserRequest fresh;
        fresh.name = name;
        fresh.key = key;
        fresh.location = table.location();
        blueprint.users.push_back(std::move(fresh));
    } else {
        user->key += (user->key.empty() ? "" : "\n") + key;
    }
}

void read_group(const TableReader& table, Blueprint& blueprint) {
    GroupRequest group;
    group.location = table.location();
    group.gid = read_id(table, "gid");
    table.finish({"name"});
    group.name = table.required_string("name");
    require_account_name(table.location("name"), "group", group.name);
    require_new(blueprint.groups_to_add, &GroupRequest::name, group, group.location, "group");
    blueprint.groups_to_add.push_back(std::move(group));
}

}  // namespace edgegpu
