#include "blueprint/repositories.hpp"

#include "blueprint/validate.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

Repository read_repository(const TableReader& table, const ParseScope& scope) {
    Repository repository;
    repository.location = table.location();
    repository.id = table.required_string("id");
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
    table.refuse_unsupported({"proxy", "proxy_username", "proxy_password", "username", "password"});
    table.finish();
    finish_repository(repository, scope, scope.directory);
    return repository;
}

void finish_repository(Repository& repository, const ParseScope& scope, const fs::path& base) {
    const SourceLocation& at = repository.location;
    if (!is_plain_name(repository.id, "_.-:")) {
        throw error_at(at, "invalid repository id \"{}\"", repository.id)
            .hinted("letters, digits, '_', '.', '-' and ':'");
    }
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
    repository.name = expand_variables(repository.name, scope, at);
    if (repository.baseurls.empty() && repository.metalink.empty() &&
        repository.mirrorlist.empty()) {
        throw error_at(at, "repository \"{}\" has neither baseurl nor metalink nor mirrorlist",
                       repository.id);
    }
    if (repository.sslclientcert.empty() != repository.sslclientkey.empty()) {
        throw error_at(at, "repository \"{}\" has {} without {}", repository.id,
                       repository.sslclientkey.empty() ? "sslclientcert" : "sslclientkey",
                       repository.sslclientkey.empty() ? "sslclientkey" : "sslclientcert");
    }
}

}  // namespace edgegpu
