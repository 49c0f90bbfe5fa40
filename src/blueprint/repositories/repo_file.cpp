#include <algorithm>
#include <array>
#include <functional>
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

using Setter = std::function<void(Repository&, const IniEntry&)>;
using SetterTable = std::map<std::string, Setter, std::less<>>;

void add_transfer_setters(SetterTable& table) {
    const auto text = [](std::string TransferSettings::*field) {
        return [field](Repository& repo, const IniEntry& entry) {
            repo.transfer.*field = as_string(entry);
        };
    };
    for (const auto& [key, field] :
         {std::pair<const char*, std::string TransferSettings::*>{"username",
                                                                  &TransferSettings::username},
          {"password", &TransferSettings::password},
          {"proxy_username", &TransferSettings::proxy_username},
          {"proxy_password", &TransferSettings::proxy_password},
          {"proxy_sslcacert", &TransferSettings::proxy_sslcacert},
          {"proxy_sslclientcert", &TransferSettings::proxy_sslclientcert},
          {"proxy_sslclientkey", &TransferSettings::proxy_sslclientkey},
          {"user_agent", &TransferSettings::user_agent}}) {
        table.emplace(key, text(field));
    }
    table.emplace("proxy", [](Repository& repo, const IniEntry& entry) {
        repo.transfer.proxy = checked_proxy(entry.location, entry.key, entry.value);
    });
    table.emplace("proxy_auth_method", [](Repository& repo, const IniEntry& entry) {
        repo.transfer.proxy_auth_method =
            parse_proxy_auth_method(entry.location, entry.key, entry.value);
    });
    table.emplace("allow_private_addresses", [](Repository& repo, const IniEntry& entry) {
        repo.transfer.allow_private_addresses = as_boolean(entry);
    });
    table.emplace("proxy_sslverify", [](Repository& repo, const IniEntry& entry) {
        repo.transfer.proxy_sslverify = as_boolean(entry);
    });
    table.emplace("retries", [](Repository& repo, const IniEntry& entry) {
        repo.transfer.retries = as_retries(entry);
    });
    table.emplace("timeout", [](Repository& repo, const IniEntry& entry) {
        repo.transfer.timeout = as_quantity(entry, parse_seconds, "30");
    });
    table.emplace("minrate", [](Repository& repo, const IniEntry& entry) {
        repo.transfer.minrate = as_quantity(entry, parse_bandwidth, "1000");
    });
}

const SetterTable& setters() {
    const auto text = [](std::string Repository::*field) {
        return [field](Repository& repo, const IniEntry& entry) { repo.*field = as_string(entry); };
    };
    const auto list = [](std::vector<std::string> Repository::*field) {
        return [field](Repository& repo, const IniEntry& entry) { repo.*field = as_list(entry); };
    };
    const auto flag = [](bool Repository::*field) {
        return
            [field](Repository& repo, const IniEntry& entry) { repo.*field = as_boolean(entry); };
    };
    const auto number = [](int Repository::*field) {
        return
            [field](Repository& repo, const IniEntry& entry) { repo.*field = as_integer(entry); };
    };
    static const SetterTable table = [&] {
        SetterTable keys{
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
            {"allow_sha1", flag(&Repository::allow_sha1)},
        };
        add_transfer_setters(keys);
        return keys;
    }();
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
    for (std::string& warning : file.warnings) {
        blueprint.warnings.push_back(std::move(warning));
    }
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
