#include <algorithm>
#include <map>
#include <set>

#include "blueprint/tables.hpp"
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
    table.refuse_unsupported({"expiredate", "force_password_reset"});
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

std::optional<unsigned> read_mode(const TableReader& table) {
    if (!table.has("mode")) {
        return std::nullopt;
    }
    const std::string text = table.string("mode");
    const bool octal = !text.empty() && text.size() <= 5 &&
                       text.find_first_not_of("01234567") == std::string::npos;
    const unsigned long mode = octal ? std::stoul(text, nullptr, 8) : 010000UL;
    if (mode > 07777UL) {
        throw error_at(table.location("mode"),
                       "\"{}\" must be an octal number as a string, not \"{}\"",
                       table.full_name("mode"), text)
            .hinted("as in mode = \"0644\"");
    }
    return static_cast<unsigned>(mode);
}

std::string read_owner(const TableReader& table, std::string_view key) {
    std::string owner = table.string_or_integer(key, "root");
    const bool number = owner.find_first_not_of("0123456789") == std::string::npos;
    if (owner.empty() || !number) {
        require_account_name(table.location(key), key, owner);
    }
    return owner;
}

void read_file_request(const TableReader& table, bool directory, Blueprint& blueprint) {
    FileRequest file;
    file.location = table.location();
    file.directory = directory;
    file.path = table.required_string("path");
    require_absolute_path(table.location("path"), table.full_name("path"), file.path);
    const std::string reason = unfit_path_reason(file.path);
    if (!reason.empty()) {
        throw error_at(table.location("path"), "an image cannot carry {}: {}", file.path, reason);
    }
    for (const FileRequest& earlier : blueprint.files) {
        if (earlier.path == file.path) {
            throw error_at(table.location("path"), "duplicate path \"{}\" (first at line {})",
                           file.path, earlier.location.line);
        }
    }
    file.user = read_owner(table, "user");
    file.group = read_owner(table, "group");
    file.mode = read_mode(table);
    if (directory) {
        file.ensure_parents = table.boolean("ensure_parents", false);
    } else {
        file.data = table.text("data");
        table.refuse_unsupported({"uri"});
    }
    table.finish();
    blueprint.files.push_back(std::move(file));
}

void read_services(const TableReader& table, ServicesRequest& services) {
    std::map<std::string, std::string> seen;
    const auto read = [&](const char* key, std::vector<std::string>& units) {
        for (const LocatedString& unit : table.strings(key)) {
            require_unit_name(unit.location, unit.value);
            const auto [earlier, fresh] = seen.emplace(unit.value, key);
            if (!fresh && earlier->second != key) {
                throw error_at(unit.location, "unit \"{}\" is both {} and {}", unit.value,
                               earlier->second, key);
            }
            if (fresh) {
                units.push_back(unit.value);
            }
        }
    };
    read("enabled", services.enabled);
    read("disabled", services.disabled);
    read("masked", services.masked);
    table.finish();
}

void read_kernel(const TableReader& table, Blueprint& blueprint) {
    blueprint.kernel_name = table.string("name", "kernel");
    if (!is_plain_name(blueprint.kernel_name, "_.-+")) {
        throw error_at(table.location("name"), "invalid package name \"{}\"",
                       blueprint.kernel_name);
    }
    blueprint.kernel_arguments =
        split_kernel_arguments(table.location("append"), table.string("append"));
    table.finish();
}

void read_time_and_language(const TableReader& customizations, Blueprint& blueprint) {
    if (const auto timezone = customizations.table("timezone")) {
        blueprint.timezone = timezone->string("timezone");
        if (!blueprint.timezone.empty()) {
            require_timezone(timezone->location("timezone"), blueprint.timezone);
        }
        for (const LocatedString& server : timezone->strings("ntpservers")) {
            if (!is_plain_name(server.value, ".-:")) {
                throw error_at(server.location, "invalid NTP server \"{}\"", server.value);
            }
            blueprint.ntp_servers.push_back(server.value);
        }
        timezone->finish();
    }
    if (const auto locale = customizations.table("locale")) {
        for (const LocatedString& language : locale->strings("languages")) {
            if (!is_plain_name(language.value, "_.-@")) {
                throw error_at(language.location, "invalid locale \"{}\"", language.value);
            }
            blueprint.languages.push_back(language.value);
        }
        blueprint.keyboard = locale->string("keyboard");
        if (!blueprint.keyboard.empty() && !is_plain_name(blueprint.keyboard, "_.-")) {
            throw error_at(locale->location("keyboard"), "invalid keyboard layout \"{}\"",
                           blueprint.keyboard);
        }
        locale->finish();
    }
}

}  // namespace

std::vector<std::string> split_kernel_arguments(const SourceLocation& location,
                                                std::string_view line) {
    std::vector<std::string> arguments;
    std::string current;
    bool quoted = false;
    for (const char c : line) {
        if (c == '"') {
            quoted = !quoted;
        }
        if (c != ' ' || quoted) {
            current += c;
        } else if (!current.empty()) {
            arguments.push_back(std::move(current));
            current.clear();
        }
    }
    if (quoted) {
        throw error_at(location, "unclosed quote in the kernel arguments");
    }
    if (!current.empty()) {
        arguments.push_back(std::move(current));
    }
    return arguments;
}

void read_customizations(const TableReader& table, Blueprint& blueprint) {
    blueprint.hostname = table.string("hostname");
    if (!blueprint.hostname.empty()) {
        require_hostname(table.location("hostname"), blueprint.hostname);
    }
    if (const auto kernel = table.table("kernel")) {
        read_kernel(*kernel, blueprint);
    }
    for (const TableReader& group : table.tables("group")) {
        read_group(group, blueprint);
    }
    for (const TableReader& user : table.tables("user")) {
        read_user(user, blueprint);
    }
    for (const TableReader& key : table.tables("sshkey")) {
        read_ssh_key(key, blueprint);
    }
    read_time_and_language(table, blueprint);
    for (const TableReader& directory : table.tables("directories")) {
        read_file_request(directory, true, blueprint);
    }
    for (const TableReader& file : table.tables("files")) {
        read_file_request(file, false, blueprint);
    }
    if (const auto services = table.table("services")) {
        read_services(*services, blueprint.services);
    }
    table.refuse_unsupported({"cacerts", "containers-storage", "dnf", "fips", "firewall",
                              "firstboot", "repositories", "rhsm", "rpm"});
    table.refuse_foreign({"disk", "fdo", "filesystem", "ignition", "installation_device",
                          "installer", "iso", "openscap", "partitioning_mode", "sshd"});
    table.finish();
}

}  // namespace edgegpu
