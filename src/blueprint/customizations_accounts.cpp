#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "blueprint/customizations.hpp"
#include "blueprint/validate.hpp"

namespace edgegpu {

namespace {

constexpr std::int64_t largest_id = 0xFFFFFFFELL;  // (uid_t)-1 means "no id"

std::optional<std::uint32_t> read_id(const TableReader& table, std::string_view key) {
    const std::optional<std::int64_t> id = table.integer(key, 0, largest_id);
    return id ? std::optional(static_cast<std::uint32_t>(*id)) : std::nullopt;
}

void require_one_line_keys(const SourceLocation& location, std::string_view what,
                           std::string_view keys) {
    for (const char c : keys) {
        if (c != '\n' && has_control_characters(std::string_view(&c, 1))) {
            throw error_at(location, "\"{}\" contains a control character", what);
        }
    }
}

std::string read_public_key(const TableReader& table) {
    std::string key = table.text("key");
    require_one_line_keys(table.location("key"), table.full_name("key"), key);
    while (!key.empty() && (key.back() == '\n' || key.back() == ' ')) {
        key.pop_back();
    }
    if (key.find("PRIVATE KEY") != std::string::npos) {
        throw error_at(table.location("key"), "\"{}\" is a private key", table.full_name("key"))
            .hinted("give the line of the .pub file");
    }
    return key;
}

std::optional<std::string> read_password(const TableReader& table) {
    if (!table.has("password")) {
        return std::nullopt;
    }
    std::string password = table.string("password");
    if (password.size() < 2 || password.front() != '$' ||
        password.find_first_of(": ") != std::string::npos) {
        // The text itself stays out of the message: it may be a real password.
        throw error_at(table.location("password"), "\"{}\" must be a crypt(3) hash",
                       table.full_name("password"))
            .hinted("make one with: openssl passwd -6");
    }
    return password;
}

void require_passwd_field(const TableReader& table, std::string_view key, std::string_view value) {
    if (value.find(':') != std::string_view::npos) {
        throw error_at(table.location(key), "\"{}\" must not contain ':'", table.full_name(key));
    }
}

}  // namespace

void read_user(const TableReader& table, Blueprint& blueprint) {
    UserRequest user;
    user.location = table.location();
    user.name = table.required_string("name");
    require_account_name(table.location("name"), "user", user.name);
    for (const UserRequest& earlier : blueprint.users) {
        if (earlier.name == user.name) {
            throw error_at(user.location, "duplicate user \"{}\" (first at line {})", user.name,
                           earlier.location.line);
        }
    }
    user.description = table.string("description");
    require_passwd_field(table, "description", user.description);
    user.password = read_password(table);
    user.key = read_public_key(table);
    user.home = table.string("home");
    user.shell = table.string("shell");
    for (const auto& [key, path] :
         {std::pair<const char*, const std::string&>{"home", user.home}, {"shell", user.shell}}) {
        if (!path.empty()) {
            require_absolute_path(table.location(key), table.full_name(key), path);
            require_passwd_field(table, key, path);
        }
    }
    for (const LocatedString& group : table.strings("groups")) {
        require_account_name(group.location, "group", group.value);
        user.groups.push_back(group.value);
    }
    user.uid = read_id(table, "uid");
    user.gid = read_id(table, "gid");
    // Days of shadow(5): beyond this, shadow-utils themselves take the date for none.
    constexpr std::int64_t last_day = 0x7FFFFFFF;
    if (const auto day = table.integer("expiredate", 0, last_day)) {
        user.expire_date = static_cast<std::uint32_t>(*day);
    }
    user.force_password_reset = table.boolean("force_password_reset", false);
    if (user.force_password_reset && !user.password) {
        throw error_at(table.location("force_password_reset"),
                       "user \"{}\" has no password to change at the first log-in", user.name)
            .hinted("give \"password\" too, or leave \"force_password_reset\" out");
    }
    table.finish();
    blueprint.users.push_back(std::move(user));
}

/// Image builder's older way to give a user a key: it makes the user where there is none.
void read_ssh_key(const TableReader& table, Blueprint& blueprint) {
    const std::string name = table.required_string("user");
    require_account_name(table.location("user"), "user", name);
    const std::string key = read_public_key(table);
    if (key.empty()) {
        throw error_at(table.location(), "\"{}\" is missing", table.full_name("key"));
    }
    table.finish();
    const auto user = std::find_if(blueprint.users.begin(), blueprint.users.end(),
                                   [&](const UserRequest& known) { return known.name == name; });
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
    group.name = table.required_string("name");
    require_account_name(table.location("name"), "group", group.name);
    for (const GroupRequest& earlier : blueprint.groups_to_add) {
        if (earlier.name == group.name) {
            throw error_at(group.location, "duplicate group \"{}\" (first at line {})", group.name,
                           earlier.location.line);
        }
    }
    group.gid = read_id(table, "gid");
    table.finish();
    blueprint.groups_to_add.push_back(std::move(group));
}

}  // namespace edgegpu
