// The INI dialect of dnf's .repo files, as libdnf's iniparser reads it: "[id]" begins a
// repository, "key = value" sets, lines that begin with white space continue the value, lines that
// begin with '#' or ';' are comments.

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <map>

#include "blueprint/repositories.hpp"
#include "blueprint/validate.hpp"
#include "support/file.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t largest_repo_file = 4U << 20U;

struct Entry {
    std::string key;
    std::string value;
    SourceLocation location;
};

struct Section {
    std::string id;
    SourceLocation location;
    std::vector<Entry> entries;
};

/// Documented in dnf.conf(5), but about dnf's own cache and downloads: they decide nothing here.
constexpr std::array<std::string_view, 24> meaningless_keys{
    "autorefresh",       "bandwidth",       "cache",
    "countme",           "deltarpm",        "deltarpm_percentage",
    "enabled_metadata",  "enablegroups",    "failovermethod",
    "fastestmirror",     "http_caching",    "ip_resolve",
    "keepalive",         "keepcache",       "max_parallel_downloads",
    "mdpolicy",          "metadata_expire", "minrate",
    "mirrorlist_expire", "retries",         "skip_if_unavailable",
    "throttle",          "timeout",         "type"};

/// They would change what is downloaded or how; passing them over would be a lie.
constexpr std::array<std::string_view, 10> unsupported_keys{
    "gpgkey_dns_verification", "proxy",    "proxy_auth_method", "proxy_password", "proxy_sslverify",
    "proxy_username",          "password", "sslverifystatus",   "user_agent",     "username"};

std::string_view trim(std::string_view text) {
    constexpr std::string_view blanks = " \t\r";
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// Takes one line that is neither blank nor a comment into the sections read so far.
void read_line(std::string_view line, const SourceLocation& here, std::vector<Section>& sections) {
    const std::string_view text = trim(line);
    std::string without_tabs(text);
    std::replace(without_tabs.begin(), without_tabs.end(), '\t', ' ');
    if (has_control_characters(without_tabs)) {
        throw error_at(here, "control character in a .repo file");
    }
    if (line.front() == '[') {
        if (text.back() != ']' || text.size() < 3) {
            throw error_at(here, "malformed section header \"{}\"", text);
        }
        sections.push_back({std::string(text.substr(1, text.size() - 2)), here, {}});
        return;
    }
    if (sections.empty()) {
        throw error_at(here, "\"{}\" stands before the first [section]", text);
    }
    std::vector<Entry>& entries = sections.back().entries;
    if (line.front() == ' ' || line.front() == '\t') {
        if (entries.empty()) {
            throw error_at(here, "a continuation line without a key before it");
        }
        entries.back().value += '\n' + std::string(text);
        return;
    }
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) {
        throw error_at(here, "expected \"key = value\", not \"{}\"", text);
    }
    const std::string key(trim(text.substr(0, equals)));
    for (const Entry& earlier : entries) {
        if (earlier.key == key) {
            throw error_at(here, "duplicate key \"{}\" (first at line {})", key,
                           earlier.location.line);
        }
    }
    entries.push_back({key, std::string(trim(text.substr(equals + 1))), here});
}

std::vector<Section> read_sections(const std::string& file, std::string_view content) {
    std::vector<Section> sections;
    std::uint32_t number = 0;
    while (!content.empty()) {
        const std::size_t end = std::min(content.find('\n'), content.size());
        const std::string_view line = content.substr(0, end);
        content.remove_prefix(std::min(end + 1, content.size()));
        ++number;
        if (!trim(line).empty() && line.front() != '#' && line.front() != ';') {
            read_line(line, {file, number, 1}, sections);
        }
    }
    return sections;
}

std::vector<std::string> as_list(const Entry& entry) {
    std::vector<std::string> items;
    std::string_view rest = entry.value;
    constexpr std::string_view separators = " \t\n,";
    while (true) {
        const std::size_t first = rest.find_first_not_of(separators);
        if (first == std::string_view::npos) {
            return items;
        }
        rest.remove_prefix(first);
        const std::size_t end = std::min(rest.find_first_of(separators), rest.size());
        items.emplace_back(rest.substr(0, end));
        rest.remove_prefix(end);
    }
}

bool as_boolean(const Entry& entry) {
    std::string lower = entry.value;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    if (lower == "1" || lower == "yes" || lower == "true" || lower == "on") {
        return true;
    }
    if (lower == "0" || lower == "no" || lower == "false" || lower == "off") {
        return false;
    }
    throw error_at(entry.location, "\"{}\" must be a boolean (1 or 0), not \"{}\"", entry.key,
                   entry.value);
}

int as_integer(const Entry& entry) {
    int value = 0;
    const char* end = entry.value.data() + entry.value.size();
    const auto [stop, failure] = std::from_chars(entry.value.data(), end, value);
    if (failure != std::errc{} || stop != end || value < 0 || value > 1000000) {
        throw error_at(entry.location,
                       "\"{}\" must be an integer between 0 and 1000000, not \"{}\"", entry.key,
                       entry.value);
    }
    return value;
}

std::string as_string(const Entry& entry) {
    if (entry.value.find('\n') != std::string::npos) {
        throw error_at(entry.location, "\"{}\" must be a single line", entry.key);
    }
    return entry.value;
}

using Setter = std::function<void(Repository&, const Entry&)>;

const std::map<std::string, Setter, std::less<>>& setters() {
    const auto text = [](std::string Repository::*field) {
        return [field](Repository& repo, const Entry& entry) { repo.*field = as_string(entry); };
    };
    const auto list = [](std::vector<std::string> Repository::*field) {
        return [field](Repository& repo, const Entry& entry) { repo.*field = as_list(entry); };
    };
    const auto flag = [](bool Repository::*field) {
        return [field](Repository& repo, const Entry& entry) { repo.*field = as_boolean(entry); };
    };
    const auto number = [](int Repository::*field) {
        return [field](Repository& repo, const Entry& entry) { repo.*field = as_integer(entry); };
    };
    static const std::map<std::string, Setter, std::less<>> table{
        {"name", text(&Repository::name)},
        {"baseurl", list(&Repository::baseurls)},
        {"metalink", text(&Repository::metalink)},
        {"mirrorlist", text(&Repository::mirrorlist)},
        {"gpgkey", list(&Repository::gpgkeys)},
        {"gpgcheck", flag(&Repository::gpgcheck)},
        {"repo_gpgcheck", flag(&Repository::repo_gpgcheck)},
        {"enabled", flag(&Repository::enabled)},
        {"sslverify", flag(&Repository::sslverify)},
        {"sslcacert", text(&Repository::sslcacert)},
        {"sslclientcert", text(&Repository::sslclientcert)},
        {"sslclientkey", text(&Repository::sslclientkey)},
        {"priority", number(&Repository::priority)},
        {"cost", number(&Repository::cost)},
        {"exclude", list(&Repository::excludepkgs)},
        {"excludepkgs", list(&Repository::excludepkgs)},
        {"includepkgs", list(&Repository::includepkgs)},
        {"module_hotfixes", flag(&Repository::module_hotfixes)},
    };
    return table;
}

void apply(Repository& repository, const Entry& entry) {
    const auto is_key = [&](std::string_view key) { return key == entry.key; };
    const auto setter = setters().find(entry.key);
    if (setter != setters().end()) {
        setter->second(repository, entry);
        return;
    }
    if (std::any_of(meaningless_keys.begin(), meaningless_keys.end(), is_key)) {
        return;
    }
    if (std::any_of(unsupported_keys.begin(), unsupported_keys.end(), is_key)) {
        throw error_at(entry.location, "not supported yet: {}", entry.key);
    }
    std::vector<std::string> known(meaningless_keys.begin(), meaningless_keys.end());
    for (const auto& [key, unused] : setters()) {
        known.push_back(key);
    }
    Error unknown = error_at(entry.location, "unknown key \"{}\"", entry.key);
    const std::vector<std::string> near = nearest_names(entry.key, known);
    throw unknown.hinted(near.empty() ? "dnf.conf(5) lists the keys of a repository"
                                      : fmt::format("did you mean \"{}\"?", near.front()));
}

}  // namespace

std::vector<Repository> read_repo_file(const std::string& file, const fs::path& path,
                                       const ParseScope& scope) {
    std::vector<Repository> repositories;
    for (const Section& section : read_sections(file, read_file(path, largest_repo_file))) {
        if (section.id == "main") {
            throw error_at(section.location, "[main] belongs into dnf.conf, not a .repo file");
        }
        Repository repository;
        repository.id = section.id;
        repository.location = section.location;
        for (const Entry& entry : section.entries) {
            apply(repository, entry);
        }
        finish_repository(repository, scope, path.parent_path());
        repositories.push_back(std::move(repository));
    }
    return repositories;
}

}  // namespace edgegpu
