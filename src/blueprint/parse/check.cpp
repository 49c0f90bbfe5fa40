#include "blueprint/parse/check.hpp"

#include <algorithm>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "blueprint/sources/overlay_source.hpp"
#include "blueprint/sources/policy_rule.hpp"
#include "blueprint/sources/policy_source.hpp"
#include "blueprint/tables/test_table.hpp"
#include "blueprint/toml/mistakes.hpp"
#include "blueprint/toml/toml_reader.hpp"
#include "blueprint/toml/validate.hpp"
#include "support/data_directory.hpp"
#include "support/percent_encoding.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

bool exists_as_directory(const fs::path& path) {
    std::error_code failure;
    return fs::is_directory(path, failure);
}

bool begins_with(std::string_view text, std::string_view prefix) {
    return text.substr(0, prefix.size()) == prefix;
}

/// Throws unless the file is readable. Files in /etc/pki and /etc/rhsm only exist on subscribed
/// build machines and are not checked, so that a blueprint that names them can be checked anywhere.
void require_readable(const SourceLocation& location, std::string_view what,
                      const std::string& path) {
    if (begins_with(path, "/etc/pki/") || begins_with(path, "/etc/rhsm/")) {
        return;
    }
    std::error_code failure;
    if (!fs::is_regular_file(path, failure)) {
        throw error_at(location, "{} not found: {}", what, path);
    }
    if (::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0) {
        throw error_at(location, "{} is not readable: {}", what, path);
    }
}

void check_repository(const Repository& repository, Mistakes& mistakes) {
    const SourceLocation& at = repository.location;
    if ((repository.gpgcheck || repository.repo_gpgcheck) && repository.gpgkeys.empty()) {
        mistakes.add(
            error_at(at, "repository \"{}\" has no gpgkey to verify signatures with", repository.id)
                .hinted("set gpgkey, or gpgcheck and repo_gpgcheck to false"));
    }
    const auto readable = [&](std::string_view what, const std::string& path) {
        mistakes.attempt([&] { require_readable(at, what, path); });
    };
    for (const std::string& key : repository.gpgkeys) {
        constexpr std::string_view file_scheme = "file://";
        if (begins_with(key, file_scheme)) {
            readable("gpgkey", percent_decoded(key.substr(file_scheme.size())));
        } else if (begins_with(key, "/")) {
            readable("gpgkey", key);
        }
    }
    const TransferSettings& transfer = repository.transfer;
    for (const auto& [what, path] :
         {std::pair<const char*, const std::string&>{"sslcacert", repository.sslcacert},
          {"sslclientcert", repository.sslclientcert},
          {"sslclientkey", repository.sslclientkey},
          {"proxy_sslcacert", transfer.proxy_sslcacert},
          {"proxy_sslclientcert", transfer.proxy_sslclientcert},
          {"proxy_sslclientkey", transfer.proxy_sslclientkey}}) {
        if (!path.empty()) {
            readable(what, path);
        }
    }
}

/// Checks modules and rules of `[selinux]`, and the shipped module that gpu_containers may need:
/// whether the image needs it is only known after compose.
void check_selinux(const Blueprint& blueprint, Mistakes& mistakes) {
    const SelinuxRequest& selinux = blueprint.selinux;
    for (const fs::path& module : selinux.modules) {
        mistakes.attempt([&] {
            require_readable(selinux.location, "policy module", module.string());
            check_policy_module(module);
        });
    }
    if (selinux.gpu_containers) {
        mistakes.attempt([&] {
            const fs::path module = shipped_map_module(blueprint.path);
            try {
                require_readable(selinux.location, "policy module of gpu_containers",
                                 module.string());
            } catch (Error& missing) {
                throw missing.hinted(
                    fmt::format("it is part of edgegpu, whose data directory is {}; set "
                                "EDGEGPU_DATADIR to use another one",
                                data_directory().string()));
            }
            check_policy_module(module);
        });
    }
    for (const auto* rules : {&selinux.require, &selinux.forbid}) {
        for (const PolicyRuleRequest& rule : *rules) {
            mistakes.attempt(
                [&] { static_cast<void>(selinux::parse_rule(rule.text, rule.location)); });
        }
    }
}

/// What is in it is checked where it is rendered (src/bundles).
void check_bundle(const BundleRequest& bundle) {
    if (!exists_as_directory(bundle.source)) {
        throw error_at(bundle.location, "bundle not found: {}", bundle.source.string());
    }
}

void check_ostree(const OstreeRequest& ostree, Mistakes& mistakes) {
    if (!ostree.gpg_homedir.empty() && !exists_as_directory(ostree.gpg_homedir)) {
        mistakes.add(
            error_at(ostree.location, "gpg_homedir not found: {}", ostree.gpg_homedir.string()));
    }
    if (!ostree.gpg_public_key.empty()) {
        mistakes.attempt([&] {
            require_readable(ostree.location, "gpg_public_key", ostree.gpg_public_key.string());
        });
    }
}

}  // namespace

void find_mistakes(const Blueprint& blueprint, Mistakes& mistakes) {
    const bool usable =
        std::any_of(blueprint.repositories.begin(), blueprint.repositories.end(),
                    [](const Repository& repository) { return repository.enabled; });
    if (!usable) {
        mistakes.add(error_at(blueprint.ostree.location, "no repository")
                         .hinted("add [[repositories]] with id and baseurl, or give a .repo file: "
                                 "--repository-file FILE"));
    }
    for (const Repository& repository : blueprint.repositories) {
        if (repository.enabled) {
            check_repository(repository, mistakes);
        }
    }
    if (blueprint.nvidia && blueprint.nvidia->secure_boot) {
        const SecureBootRequest& request = *blueprint.nvidia->secure_boot;
        for (const auto& [what, path] :
             {std::pair<const char*, const fs::path&>{"key", request.key},
              {"certificate", request.certificate}}) {
            if (!path.empty()) {
                mistakes.attempt([&, what = what, &file = path] {
                    require_readable(request.location, what, file.string());
                });
            }
        }
    }
    check_selinux(blueprint, mistakes);
    for (const OverlayRequest& overlay : blueprint.overlays) {
        mistakes.attempt([&] { visit_overlay(overlay, {}, [](const OverlayMember&) {}); });
    }
    for (const BundleRequest& bundle : blueprint.microshift.bundles) {
        mistakes.attempt([&] { check_bundle(bundle); });
    }
    for (const FileRequest& file : blueprint.files) {
        if (!file.source.empty()) {
            mistakes.attempt(
                [&] { require_readable(file.location, "file", file.source.string()); });
        }
    }
    check_ostree(blueprint.ostree, mistakes);
    find_mistakes(blueprint.test, mistakes);
}

void check_blueprint(const Blueprint& blueprint) {
    Mistakes mistakes;
    find_mistakes(blueprint, mistakes);
    mistakes.throw_any(blueprint.path.string());
}

}  // namespace edgegpu
