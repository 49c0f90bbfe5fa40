#include "blueprint/repositories/repositories.hpp"

#include <tuple>

#include "blueprint/repositories/transfer.hpp"
#include "blueprint/toml/validate.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

TransferSettings read_transfer(const TableReader& table) {
    TransferSettings transfer;
    transfer.username = table.string("username");
    transfer.password = table.string("password");
    if (table.has("proxy")) {
        table.attempt([&] {
            transfer.proxy = checked_proxy(table.location("proxy"), table.full_name("proxy"),
                                           table.string("proxy"));
        });
    }
    transfer.proxy_username = table.string("proxy_username");
    transfer.proxy_password = table.string("proxy_password");
    table.attempt([&] {
        const std::string method = table.string("proxy_auth_method", "any");
        transfer.proxy_auth_method = parse_proxy_auth_method(
            table.location("proxy_auth_method"), table.full_name("proxy_auth_method"), method);
    });
    transfer.proxy_sslverify = table.boolean("proxy_sslverify", true);
    transfer.proxy_sslcacert = table.string("proxy_sslcacert");
    transfer.proxy_sslclientcert = table.string("proxy_sslclientcert");
    transfer.proxy_sslclientkey = table.string("proxy_sslclientkey");
    transfer.user_agent = table.string("user_agent");
    constexpr std::int64_t most = 1000000;
    constexpr std::int64_t day = 86400;
    transfer.retries = static_cast<int>(table.integer("retries", 0, most).value_or(10));
    transfer.timeout = static_cast<int>(table.integer("timeout", 0, day).value_or(30));
    transfer.minrate = static_cast<int>(table.integer("minrate", 0, 1 << 30).value_or(1000));
    transfer.allow_private_addresses = table.boolean("allow_private_addresses", false);
    for (const auto& [user, secret, name] :
         {std::tuple<const char*, const char*, const std::string&>{"username", "password",
                                                                   transfer.username},
          {"proxy_username", "proxy_password", transfer.proxy_username}}) {
        if (table.has(secret) && name.empty() && !table.has(user)) {
            table.note(error_at(table, secret, "\"{}\" without \"{}\"", table.full_name(secret),
                                table.full_name(user)));
        }
    }
    return transfer;
}

/// Records relative paths as absolute ones; variables in them stay.
void record_paths(const TableReader& table, const ParseScope& scope) {
    const fs::path base = directory_of(table.location());
    for (const char* key : {"baseurl", "metalink", "mirrorlist"}) {
        for (const LocatedString& url : table.string_or_strings(key)) {
            if (url.value.starts_with("./") || url.value.starts_with("../")) {
                record_path(scope, url, resolve_path(base, url.value).string());
            }
        }
    }
    for (const char* key : {"gpgkey", "sslcacert", "sslclientcert", "sslclientkey",
                            "proxy_sslcacert", "proxy_sslclientcert", "proxy_sslclientkey"}) {
        for (const LocatedString& path : table.string_or_strings(key)) {
            if (!path.value.empty() && path.value.find("://") == std::string::npos) {
                record_path(scope, path, resolve_path(base, path.value).string());
            }
        }
    }
}

/// Throws unless dnf accepts the id.
void require_repository_id(const SourceLocation& at, const std::string& id) {
    if (!is_plain_name(id, "_.-:")) {
        throw error_at(at, "invalid repository id \"{}\"", id)
            .hinted("letters, digits, '_', '.', '-' and ':'");
    }
}

}  // namespace

Repository read_repository(const TableReader& table, const ParseScope& scope) {
    const std::size_t before = table.mistakes().count();
    Repository repository;
    repository.location = table.location();
    repository.name = table.string("name");
    repository.baseurls = values_of(table.string_or_strings("baseurl"));
    repository.metalink = table.string("metalink");
    repository.mirrorlist = table.string("mirrorlist");
    repository.gpgkeys = values_of(table.string_or_strings("gpgkey"));
    repository.gpgcheck = table.boolean("gpgcheck", true);
    repository.repo_gpgcheck = table.boolean("repo_gpgcheck", true);
    repository.enabled = table.boolean("enabled", true);
    repository.sslverify = table.boolean("sslverify", true);
    repository.sslcacert = table.string("sslcacert");
    repository.sslclientcert = table.string("sslclientcert");
    repository.sslclientkey = table.string("sslclientkey");
    repository.priority = static_cast<int>(table.integer("priority", 0, 1000000).value_or(99));
    repository.cost = static_cast<int>(table.integer("cost", 0, 1000000).value_or(1000));
    repository.excludepkgs = values_of(table.string_or_strings("excludepkgs"));
    repository.includepkgs = values_of(table.string_or_strings("includepkgs"));
    repository.module_hotfixes = table.boolean("module_hotfixes", false);
    repository.allow_sha1 = table.boolean("allow_sha1", false);
    repository.transfer = read_transfer(table);
    table.finish({"id"});
    if (table.mistakes().count() != before) {
        // The blueprint is rejected anyway: avoid consequential errors about keys that are missing
        // because of the mistake.
        repository.gpgcheck = repository.repo_gpgcheck = false;
        if (repository.baseurls.empty()) {
            repository.baseurls.emplace_back("file:///unread");
        }
    }
    repository.id = table.required_string("id");
    finish_repository(repository, scope, directory_of(repository.location));
    record_paths(table, scope);
    return repository;
}

void finish_repository(Repository& repository, const ParseScope& scope, const fs::path& base) {
    const SourceLocation& at = repository.location;
    require_repository_id(at, repository.id);
    const auto url = [&](std::string& text) {
        if (!text.empty()) {
            text = resolve_url(base, expand_variables(text, scope, at), at);
        }
    };
    for (std::string& baseurl : repository.baseurls) {
        url(baseurl);
    }
    url(repository.metalink);
    url(repository.mirrorlist);
    const auto path = [&](std::string& text) {
        if (!text.empty()) {
            text = resolve_path(base, expand_variables(text, scope, at)).string();
        }
    };
    for (std::string& key : repository.gpgkeys) {
        const bool is_url = key.find("://") != std::string::npos;
        is_url ? url(key) : path(key);
    }
    path(repository.sslcacert);
    path(repository.sslclientcert);
    path(repository.sslclientkey);
    TransferSettings& transfer = repository.transfer;
    path(transfer.proxy_sslcacert);
    path(transfer.proxy_sslclientcert);
    path(transfer.proxy_sslclientkey);
    repository.name = expand_variables(repository.name, scope, at);
    if (repository.baseurls.empty() && repository.metalink.empty() &&
        repository.mirrorlist.empty()) {
        throw error_at(at, "repository \"{}\" has neither baseurl nor metalink nor mirrorlist",
                       repository.id);
    }
    const auto pair = [&](const char* prefix, bool certificate, bool key) {
        if (certificate != key) {
            throw error_at(at, "repository \"{}\" has {}{} without {}{}", repository.id, prefix,
                           certificate ? "sslclientcert" : "sslclientkey", prefix,
                           certificate ? "sslclientkey" : "sslclientcert");
        }
    };
    pair("", !repository.sslclientcert.empty(), !repository.sslclientkey.empty());
    pair("proxy_", !transfer.proxy_sslclientcert.empty(), !transfer.proxy_sslclientkey.empty());
}

}  // namespace edgegpu
