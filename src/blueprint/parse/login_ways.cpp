#include "blueprint/parse/login_ways.hpp"

#include <algorithm>
#include <regex>

#include "blueprint/accounts.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// Whether any line that is no comment fits the expression; white space around it does not count.
bool has_line(std::string_view text, const std::regex& expression) {
    constexpr std::size_t longest = 1024;
    for (const std::string_view whole : lines_of(text)) {
        const std::string_view line = trim(whole).substr(0, longest);
        if (!line.starts_with('#') && !line.starts_with(';') &&
            std::regex_search(line.begin(), line.end(), expression)) {
            return true;
        }
    }
    return false;
}

std::regex expression(const char* text) {
    return std::regex(text, std::regex::ECMAScript | std::regex::icase | std::regex::optimize);
}

bool has_public_key(std::string_view text) {
    static const std::regex key = expression(
        R"((^|[ ,"])(sk-)?(ssh-(ed25519|rsa)|ecdsa-sha2-nistp\d+)(@openssh\.com)? AAAA)");
    return text.find("AAAA") != std::string_view::npos && has_line(text, key);
}

bool has_password_hash(std::string_view shadow) {
    const std::vector<std::string_view> lines = lines_of(shadow);
    return std::ranges::any_of(lines, [](std::string_view line) {
        const std::vector<std::string_view> fields = split(line, ':');
        return fields.size() > 1 && is_usable_password(fields[1]);
    });
}

bool logs_in_by_itself(std::string_view unit) {
    static const std::regex option = expression("getty.* (--autologin|-a)\\b");
    return has_line(unit, option);
}

bool has_domain(std::string_view sssd) {
    static const std::regex section = expression(R"(^\[domain/[^\]]+\])");
    return has_line(sssd, section);
}

/// Users, keys or passwords, or where the device gets them from (None is nowhere).
bool configures_users(std::string_view cloud_config) {
    static const std::regex key = expression(
        "^(- )?(users|ssh_authorized_keys|password|passwd|chpasswd|datasource|"
        "datasource_list) *:(?! *(\\[ *(None)? *\\]|\\{ *\\}))");
    return has_line(cloud_config, key);
}

/// Users with keys or passwords, or another configuration that it fetches.
bool provisions_users(std::string_view ignition) {
    static const std::regex key =
        expression("\"(sshAuthorizedKeys|passwordHash|merge|replace)\" *:");
    return has_line(ignition, key);
}

/// Whoever manages the fleet has a console then.
bool enrolls(std::string_view flightctl) {
    static const std::regex key = expression("^enrollment-service *:");
    return has_line(flightctl, key);
}

struct Way {
    PathGlob path;
    bool (*counts)(std::string_view content);
};

const std::vector<Way>& ways() {
    static const std::vector<Way> list{
        {PathGlob("/etc/shadow"), has_password_hash},
        {PathGlob("/**/*getty*.service"), logs_in_by_itself},
        {PathGlob("/**/*getty*.service.d/*.conf"), logs_in_by_itself},
        {PathGlob("/etc/sssd/sssd.conf"), has_domain},
        {PathGlob("/etc/sssd/conf.d/*.conf"), has_domain},
        {PathGlob("/etc/cloud/cloud.cfg"), configures_users},
        {PathGlob("/etc/cloud/cloud.cfg.d/*.cfg"), configures_users},
        {PathGlob("/usr/lib/ignition/**"), provisions_users},
        {PathGlob("/etc/flightctl/**.yaml"), enrolls},
    };
    return list;
}

/// What an absolute file of AuthorizedKeysFile stands for ("/etc/keys/%u"): a pattern of paths.
/// None for one in a home directory.
std::optional<PathGlob> key_file(std::string_view name) {
    std::string pattern;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (name[i] != '%') {
            const bool special = std::string_view("*?[\\").find(name[i]) != std::string_view::npos;
            pattern += special ? std::string{'\\', name[i]} : std::string(1, name[i]);
        } else if (i + 1 < name.size() && name[i + 1] != 'h') {
            pattern += name[++i] == '%' ? '%' : '*';
        } else {
            return std::nullopt;
        }
    }
    return pattern.starts_with('/') ? std::optional(PathGlob(pattern)) : std::nullopt;
}

}  // namespace

void LoginWays::see_sshd_config(std::string_view text) {
    for (const std::string_view line : lines_of(text)) {
        const std::vector<std::string_view> words = words_of(line, " \t\r\"=");
        if (words.size() < 2) {
            continue;
        }
        const std::string keyword = lower_case(words[0]);
        if (keyword == "authorizedkeysfile") {
            for (const std::string_view word : words) {
                if (std::optional<PathGlob> pattern = key_file(word)) {
                    key_files_.push_back(std::move(*pattern));
                }
            }
        }
        const bool other = keyword == "trustedusercakeys" || keyword == "authorizedkeyscommand";
        found_ = found_ || (other && lower_case(words[1]) != "none");
    }
}

void LoginWays::see_file_of_sshd(std::string_view path,
                                 const std::function<std::string()>& content) {
    static const PathGlob drop_in("/etc/ssh/sshd_config.d/*.conf");
    static const PathGlob of_home("/**/.ssh/authorized_keys");
    if (path == "/etc/ssh/sshd_config" || drop_in.matches(path)) {
        see_sshd_config(content());
    } else if (of_home.matches(path)) {
        found_ = (users_ || !is_below(path, "/etc/skel")) && has_public_key(content());
    } else if ((is_below(path, "/etc") || path.find("key") != std::string_view::npos) &&
               has_public_key(content())) {
        files_with_keys_.emplace_back(path);
    }
}

void LoginWays::see_file(std::string_view path, const std::function<std::string()>& content) {
    if (found_) {
        return;
    }
    const auto way =
        std::ranges::find_if(ways(), [&](const Way& one) { return one.path.matches(path); });
    if (way != ways().end()) {
        found_ = way->counts(content());
    } else if (keys_count_) {
        see_file_of_sshd(path, content);
    }
}

void LoginWays::see_program(std::string_view text) {
    found_ = found_ || logs_in_by_itself(text) || gives_credential(text);
}

bool LoginWays::any() const {
    return found_ || std::ranges::any_of(files_with_keys_, [&](const auto& file) {
               return std::ranges::any_of(
                   key_files_, [&](const PathGlob& pattern) { return pattern.matches(file); });
           });
}

bool gives_credential(std::string_view program) {
    // As a word of a command; passwd not with an option that locks or shows an account.
    static const std::regex command = expression(
        R"((^|[ \t;&|('"=]|/s?bin/)(chpasswd\b|newusers\b|ipa-client-install\b|(realm|adcli) +join\b|)"
        R"(passwd(?= +[^ -]| +--stdin\b)|user(add|mod) (.* )?(-p|--password)\b)|authorized_keys\b)");
    return has_line(program, command);
}

}  // namespace edgegpu
