#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <optional>

#include "blueprint/repositories/repo_ini.hpp"
#include "blueprint/repositories/repositories.hpp"
#include "blueprint/repositories/transfer.hpp"
#include "support/files/file.hpp"
#include "support/secrets.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t largest_repo_file = 4U << 20U;

/// Keys of dnf.conf(5) that concern dnf's own cache and downloads; they have no effect here.
constexpr std::array<std::string_view, 28> meaningless_keys{"async",
                                                            "autorefresh",
                                                            "bandwidth",
                                                            "basecachedir",
                                                            "build_cache",
                                                            "cache",
                                                            "countme",
                                                            "deltarpm",
                                                            "deltarpm_percentage",
                                                            "enabled_metadata",
                                                            "enablegroups",
                                                            "failovermethod",
                                                            "fastestmirror",
                                                            "http_caching",
                                                            "ip_resolve",
                                                            "keepalive",
                                                            "keepcache",
                                                            "max_parallel_downloads",
                                                            "mdpolicy",
                                                            "mediaid",
                                                            "metadata_expire",
                                                            "metadata_expire_filter",
                                                            "mirrorlist_expire",
                                                            "protected_packages",
                                                            "skip_if_unavailable",
                                                            "throttle",
                                                            "type",
                                                            "ui_repoid_vars"};

/// Keys that would add a check; if one is enabled, a warning says that the check is not made.
/// subscription-manager writes sslverifystatus = 1.
constexpr std::array<std::string_view, 2> unsupported_keys{"gpgkey_dns_verification",
                                                           "sslverifystatus"};

/// A number, possibly with a unit.
int as_quantity(const IniEntry& entry, std::optional<int> (*parse)(std::string_view),
                const char* example) {
    const std::optional<int> value = parse(as_string(entry));
    if (!value) {
        throw error_at(entry.location, "\"{}\" must be a number, as in \"{}\", not \"{}\"",
                       entry.key, example, entry.value);
    }
    return *value;
}

/// 0 means "retry forever" to dnf, which a build must not do.
int as_retries(const IniEntry& entry) {
    constexpr int as_good_as_ever = 1000;
    const int retries = as_integer(entry);
    return retries == 0 ? as_good_as_ever : retries;
}

int as_seconds(const IniEntry& entry) {
    return as_quantity(entry, parse_seconds, "30");
}

int as_bandwidth(const IniEntry& entry) {
    return as_quantity(entry, parse_bandwidth, "1000");
}

std::string as_proxy(const IniEntry& entry) {
    return checked_proxy(entry.location, entry.key, entry.value);
}

ProxyAuthentication as_proxy_auth_method(const IniEntry& entry) {
    return parse_proxy_auth_method(entry.location, entry.key, entry.value);
}

using Setter = std::function<void(Repository&, const IniEntry&)>;

/// Reads a key with `read` into a field: a member of Repository, or a member of one of them.
template <auto read, typename... Members>
Setter into(Members... members) {
    return [=](Repository& repo, const IniEntry& entry) { (repo.*....*members) = read(entry); };
}

const std::map<std::string, Setter, std::less<>>& setters() {
    using Transfer = TransferSettings;
    constexpr auto transfer = &Repository::transfer;
    static const std::map<std::string, Setter, std::less<>> table{
        {"name", into<as_string>(&Repository::name)},
        {"baseurl", into<as_list>(&Repository::baseurls)},
        {"metalink", into<as_string>(&Repository::metalink)},
        {"mirrorlist", into<as_string>(&Repository::mirrorlist)},
        {"gpgkey", into<as_list>(&Repository::gpgkeys)},
        {"gpgcheck", into<as_boolean>(&Repository::gpgcheck)},
        {"repo_gpgcheck", into<as_boolean>(&Repository::repo_gpgcheck)},
        {"enabled", into<as_boolean>(&Repository::enabled)},
        {"sslverify", into<as_boolean>(&Repository::sslverify)},
        {"sslcacert", into<as_string>(&Repository::sslcacert)},
        {"sslclientcert", into<as_string>(&Repository::sslclientcert)},
        {"sslclientkey", into<as_string>(&Repository::sslclientkey)},
        {"priority", into<as_integer>(&Repository::priority)},
        {"cost", into<as_integer>(&Repository::cost)},
        {"exclude", into<as_list>(&Repository::excludepkgs)},
        {"excludepkgs", into<as_list>(&Repository::excludepkgs)},
        {"includepkgs", into<as_list>(&Repository::includepkgs)},
        {"module_hotfixes", into<as_boolean>(&Repository::module_hotfixes)},
        {"allow_sha1", into<as_boolean>(&Repository::allow_sha1)},
        {"username", into<as_string>(transfer, &Transfer::username)},
        {"password", into<as_string>(transfer, &Transfer::password)},
        {"proxy", into<as_proxy>(transfer, &Transfer::proxy)},
        {"proxy_username", into<as_string>(transfer, &Transfer::proxy_username)},
        {"proxy_password", into<as_string>(transfer, &Transfer::proxy_password)},
        {"proxy_auth_method", into<as_proxy_auth_method>(transfer, &Transfer::proxy_auth_method)},
        {"proxy_sslverify", into<as_boolean>(transfer, &Transfer::proxy_sslverify)},
        {"proxy_sslcacert", into<as_string>(transfer, &Transfer::proxy_sslcacert)},
        {"proxy_sslclientcert", into<as_string>(transfer, &Transfer::proxy_sslclientcert)},
        {"proxy_sslclientkey", into<as_string>(transfer, &Transfer::proxy_sslclientkey)},
        {"user_agent", into<as_string>(transfer, &Transfer::user_agent)},
        {"retries", into<as_retries>(transfer, &Transfer::retries)},
        {"timeout", into<as_seconds>(transfer, &Transfer::timeout)},
        {"minrate", into<as_bandwidth>(transfer, &Transfer::minrate)},
        {"allow_private_addresses", into<as_boolean>(transfer, &Transfer::allow_private_addresses)},
    };
    return table;
}

void apply(Repository& repository, const IniEntry& entry, std::vector<std::string>& warnings) {
    const auto is_key = [&](std::string_view key) { return key == entry.key; };
    const auto setter = setters().find(entry.key);
    if (setter != setters().end()) {
        setter->second(repository, entry);
        return;
    }
    if (std::ranges::any_of(meaningless_keys, is_key)) {
        return;
    }
    if (std::ranges::any_of(unsupported_keys, is_key)) {
        if (as_boolean(entry)) {
            warnings.push_back(fmt::format("{}: {} is not supported yet: that check is not made",
                                           entry.location.text(), entry.key));
        }
        return;
    }
    std::vector<std::string> known(meaningless_keys.begin(), meaningless_keys.end());
    for (const auto& [key, unused] : setters()) {
        known.push_back(key);
    }
    const std::vector<std::string> near = nearest_names(entry.key, known);
    warnings.push_back(
        fmt::format("{}: unknown key \"{}\" is ignored{}", entry.location.text(),
                    url_to_show(shortened(entry.key)),
                    near.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", near.front())));
}

/// Reads a file; failures become usage errors.
std::string read_text(const std::string& file, const fs::path& path) {
    try {
        return read_file(path, largest_repo_file);
    } catch (const Error& unreadable) {
        throw Error(ErrorKind::usage,
                    file == path ? unreadable.message() : file + ": " + unreadable.message());
    }
}

/// Reads one section. Mistakes of disabled repositories are ignored.
void read_section(const IniSection& section, const ParseScope& scope, const fs::path& base,
                  RepoFile& result, Mistakes& mistakes) {
    Repository repository;
    repository.id = section.id;
    repository.location = section.location;
    // dnf's default, which Red Hat's .repo files rely on.
    repository.repo_gpgcheck = false;
    Mistakes own;
    std::vector<std::string> warnings;
    for (const IniEntry& entry : section.entries) {
        own.attempt([&] { apply(repository, entry, warnings); });
    }
    if (!repository.enabled) {
        Mistakes unused;
        unused.attempt([&] { finish_repository(repository, scope, base); });
        if (own.empty() && unused.empty()) {
            result.repositories.push_back(std::move(repository));
        }
        return;
    }
    if (own.empty() && !section.damaged) {
        own.attempt([&] { finish_repository(repository, scope, base); });
    }
    if (!mistakes.attempt([&] { own.throw_any(section.location.file); }) || section.damaged) {
        return;
    }
    result.warnings.insert(result.warnings.end(), warnings.begin(), warnings.end());
    result.repositories.push_back(std::move(repository));
}

}  // namespace

RepoFile read_repo_file(const std::string& file, const fs::path& path, ParseScope scope) {
    scope.keep_unknown = true;
    RepoFile result;
    Mistakes mistakes;
    const std::string text = read_text(file, path);
    for (const IniSection& section : read_ini(file, text, mistakes)) {
        // dnf ignores [main] in .repo files: it belongs in dnf.conf.
        if (section.id != "main") {
            read_section(section, scope, path.parent_path(), result, mistakes);
        }
    }
    mistakes.throw_any(file);
    return result;
}

void add_repo_file(RepoFile file, Blueprint& blueprint) {
    std::vector<Repository>& all = blueprint.repositories;
    std::ranges::move(file.warnings, std::back_inserter(blueprint.warnings));
    for (Repository& repository : file.repositories) {
        const auto known = std::ranges::find(all, repository.id, &Repository::id);
        if (known == all.end()) {
            all.push_back(std::move(repository));
        } else {
            blueprint.warnings.push_back(fmt::format(
                "{}: repository \"{}\" is ignored, since it is already defined: {}",
                repository.location.text(), shortened(repository.id), known->location.text()));
        }
    }
}

}  // namespace edgegpu
