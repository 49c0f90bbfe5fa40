#include <algorithm>
#include <array>
#include <system_error>

#include <unistd.h>

#include "blueprint/overlay_source.hpp"
#include "blueprint/policy_source.hpp"
#include "blueprint/toml_reader.hpp"
#include "blueprint/validate.hpp"
#include "selinux/rule_text.hpp"

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

/// A file that must be readable now. Those of /etc/pki and /etc/rhsm exist on subscribed build
/// hosts only; a blueprint that names them can be checked anywhere.
void require_readable(const SourceLocation& location, std::string_view what,
                      const std::string& path) {
    if (begins_with(path, "/etc/pki/") || begins_with(path, "/etc/rhsm/")) {
        return;
    }
    std::error_code failure;
    if (!fs::is_regular_file(path, failure)) {
        throw error_at(location, "{} not found: {}", what, path);
    }
    if (::access(path.c_str(), R_OK) != 0) {
        throw error_at(location, "{} is not readable: {}", what, path);
    }
}

void check_repository(const Repository& repository) {
    const SourceLocation& at = repository.location;
    if ((repository.gpgcheck || repository.repo_gpgcheck) && repository.gpgkeys.empty()) {
        throw error_at(at, "repository \"{}\" has no gpgkey to verify signatures with",
                       repository.id)
            .hinted("set gpgkey, or gpgcheck and repo_gpgcheck to false");
    }
    for (const std::string& key : repository.gpgkeys) {
        constexpr std::string_view file_scheme = "file://";
        if (begins_with(key, file_scheme)) {
            require_readable(at, "gpgkey", key.substr(file_scheme.size()));
        } else if (begins_with(key, "/")) {
            require_readable(at, "gpgkey", key);
        }
    }
    for (const auto& [what, path] :
         {std::pair<const char*, const std::string&>{"sslcacert", repository.sslcacert},
          {"sslclientcert", repository.sslclientcert},
          {"sslclientkey", repository.sslclientkey}}) {
        if (!path.empty()) {
            require_readable(at, what, path);
        }
    }
}

void check_bundle(const BundleRequest& bundle) {
    if (!exists_as_directory(bundle.source)) {
        throw error_at(bundle.location, "bundle not found: {}", bundle.source.string());
    }
    std::vector<std::string> found;
    for (const char* name : {"kustomization.yaml", "kustomization.yml", "Kustomization"}) {
        std::error_code failure;
        if (fs::is_regular_file(bundle.source / name, failure)) {
            found.emplace_back(name);
        }
    }
    if (found.empty()) {
        throw error_at(bundle.location, "bundle {} has no kustomization.yaml",
                       bundle.source.string());
    }
    if (found.size() > 1) {
        throw error_at(bundle.location, "bundle {} has more than one kustomization: {}",
                       bundle.source.string(), fmt::join(found, ", "));
    }
}

void check_ostree(const OstreeRequest& ostree) {
    if (!ostree.gpg_homedir.empty() && !exists_as_directory(ostree.gpg_homedir)) {
        throw error_at(ostree.location, "gpg_homedir not found: {}", ostree.gpg_homedir.string());
    }
    if (!ostree.gpg_public_key.empty()) {
        require_readable(ostree.location, "gpg_public_key", ostree.gpg_public_key.string());
    }
}

}  // namespace

void check_blueprint(const Blueprint& blueprint) {
    const bool usable =
        std::any_of(blueprint.repositories.begin(), blueprint.repositories.end(),
                    [](const Repository& repository) { return repository.enabled; });
    if (!usable) {
        throw error_at(blueprint.ostree.location, "no repository")
            .hinted(
                "add [[repositories]] with id and baseurl, or give a .repo file: "
                "--repository-file FILE");
    }
    for (const Repository& repository : blueprint.repositories) {
        if (repository.enabled) {
            check_repository(repository);
        }
    }
    if (blueprint.nvidia && blueprint.nvidia->secure_boot) {
        const SecureBootRequest& request = *blueprint.nvidia->secure_boot;
        require_readable(request.location, "key", request.key.string());
        require_readable(request.location, "certificate", request.certificate.string());
    }
    for (const fs::path& module : blueprint.selinux.modules) {
        require_readable(blueprint.selinux.location, "policy module", module.string());
        check_policy_module(module);
    }
    for (const auto* rules : {&blueprint.selinux.require, &blueprint.selinux.forbid}) {
        for (const PolicyRuleRequest& rule : *rules) {
            static_cast<void>(selinux::parse_rule(rule.text, rule.location));
        }
    }
    for (const OverlayRequest& overlay : blueprint.overlays) {
        visit_overlay(overlay, {}, [](const OverlayMember&) {});
    }
    for (const BundleRequest& bundle : blueprint.bundles) {
        check_bundle(bundle);
    }
    for (const FileRequest& file : blueprint.files) {
        if (!file.source.empty()) {
            require_readable(file.location, "file", file.source.string());
        }
    }
    check_ostree(blueprint.ostree);
}

}  // namespace edgegpu
