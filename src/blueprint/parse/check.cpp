#include "blueprint/parse/check.hpp"

#include <algorithm>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "blueprint/distro/distro.hpp"
#include "blueprint/parse/content_check.hpp"
#include "blueprint/parse/contradictions.hpp"
#include "blueprint/parse/device_check.hpp"
#include "blueprint/parse/login_check.hpp"
#include "blueprint/parse/node_check.hpp"
#include "blueprint/parse/readable.hpp"
#include "blueprint/parse/snapshot_check.hpp"
#include "blueprint/sources/policy_rule.hpp"
#include "blueprint/sources/policy_source.hpp"
#include "blueprint/tables/test_table.hpp"
#include "blueprint/toml/mistakes.hpp"
#include "blueprint/toml/toml_reader.hpp"
#include "blueprint/toml/variables.hpp"
#include "support/files/data_directory.hpp"
#include "support/files/file.hpp"
#include "support/text/percent_encoding.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

using Warnings = std::vector<std::string>;

void check_repository(const Repository& repository, Mistakes& mistakes, Warnings& warnings) {
    const SourceLocation& at = repository.location;
    if ((repository.gpgcheck || repository.repo_gpgcheck) && repository.gpgkeys.empty()) {
        mistakes.add(
            error_at(at, "repository \"{}\" has no gpgkey to verify signatures with", repository.id)
                .hinted("set gpgkey to the key file that the vendor of the repository publishes"));
    }
    if (!repository.gpgcheck && !repository.repo_gpgcheck) {
        warnings.push_back(fmt::format(
            "{}: nothing of repository \"{}\" is verified (gpgcheck and repo_gpgcheck "
            "are off): whoever can change it, there or on the way, can put anything into "
            "the image",
            at.text(), repository.id));
    }
    const auto readable = [&](std::string_view what, const std::string& path) {
        mistakes.attempt([&] { require_readable(at, what, path); });
    };
    for (const std::string& key : repository.gpgkeys) {
        constexpr std::string_view file_scheme = "file://";
        if (key.starts_with(file_scheme)) {
            readable("gpgkey", percent_decoded(key.substr(file_scheme.size())));
        } else if (key.starts_with('/')) {
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
    for (std::size_t i = 0; i < selinux.modules.size(); ++i) {
        mistakes.attempt([&] {
            require_readable(i < selinux.module_locations.size() ? selinux.module_locations[i]
                                                                 : selinux.location,
                             policy_module_text, selinux.modules[i].string());
            check_policy_module(selinux.modules[i]);
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
        throw error_at(bundle.location, "bundle not found: {}", bundle.source.string())
            .hinted(absent_file_hint(bundle.source, "manifests"));
    }
}

/// Whether ostree of the distribution ("rhel-9.4") is built without ed25519: Red Hat has no
/// libsodium, and with OpenSSL it is there from ostree 2023.6 on.
bool lacks_ed25519(std::string_view distro) {
    const std::string_view version = enterprise_version(distro);
    return version == "8" || version.starts_with("8.") || version == "9.0" || version == "9.1" ||
           version == "9.2";
}

void check_sign_command(const OstreeRequest& ostree, Mistakes& mistakes) {
    mistakes.attempt(
        [&] { require_readable(ostree.location, "sign_command", ostree.sign_command.string()); });
    if (!ostree.sign_ed25519.empty()) {
        mistakes.add(error_at(ostree.location, "sign_command and sign_ed25519 exclude each other")
                         .hinted("remove one of them"));
    }
    if (ostree.ed25519_public_key.empty()) {
        mistakes.add(error_at(ostree.location,
                              "sign_command without ed25519_public_key, with which what it signs "
                              "is verified")
                         .hinted("export the public key"));
    }
}

/// A public key of the image, `name` in the blueprint, of what is signed if `is_signed`; `sign` is
/// the field that has it signed.
void check_public_key(const OstreeRequest& ostree, std::string_view name,
                      const std::filesystem::path& file, std::string_view sign, bool is_signed,
                      Mistakes& mistakes, Warnings& warnings) {
    mistakes.attempt([&] { require_readable(ostree.location, std::string(name), file.string()); });
    if (!is_signed) {
        mistakes.add(error_at(ostree.location,
                              "{} without {}: devices would verify upgrades that nobody signs, and "
                              "refuse every one",
                              name, sign)
                         .hinted(fmt::format("set {} to the key whose public half it is", sign)));
    }
    if (ostree.url.empty()) {
        warnings.push_back(fmt::format(
            "{}: {} has no effect without url: the image gets no remote that would use it",
            ostree.location.text(), name));
    }
}

void check_ed25519(const OstreeRequest& ostree, const std::string& distro, Mistakes& mistakes,
                   Warnings& warnings) {
    if (!ostree.sign_ed25519.empty()) {
        mistakes.attempt([&] {
            require_readable(ostree.location, "sign_ed25519", ostree.sign_ed25519.string());
        });
    }
    if (!ostree.sign_command.empty()) {
        check_sign_command(ostree, mistakes);
    }
    if (ostree.ed25519_public_key.empty()) {
        return;
    }
    check_public_key(ostree, "ed25519_public_key", ostree.ed25519_public_key, "sign_ed25519",
                     !ostree.sign_ed25519.empty() || !ostree.sign_command.empty(), mistakes,
                     warnings);
    if (lacks_ed25519(distro)) {
        warnings.push_back(
            fmt::format("{}: ostree of {} is built without ed25519: with ed25519_public_key, "
                        "devices refuse every upgrade, unless the image has another ostree",
                        ostree.location.text(), distro));
    }
}

void check_ostree(const OstreeRequest& ostree, const std::string& distro, Mistakes& mistakes,
                  Warnings& warnings) {
    check_ed25519(ostree, distro, mistakes, warnings);
    if (!ostree.gpg_homedir.empty() && !exists_as_directory(ostree.gpg_homedir)) {
        mistakes.add(
            error_at(ostree.location, "gpg_homedir not found: {}", ostree.gpg_homedir.string())
                .hinted(absent_file_hint(ostree.gpg_homedir)));
    }
    if (!ostree.gpg_public_key.empty()) {
        check_public_key(ostree, "gpg_public_key", ostree.gpg_public_key, "sign",
                         !ostree.sign.empty(), mistakes, warnings);
    }
}

/// What a layer on a parent cannot have is refused, instead of giving half of it.
void check_parent(const Blueprint& blueprint, Mistakes& mistakes) {
    if (!blueprint.parent) {
        return;
    }
    const ParentRequest& parent = *blueprint.parent;
    if (!parent.repository.empty() && !exists_as_directory(parent.repository)) {
        mistakes.add(
            error_at(parent.location, "repository not found: {}", parent.repository.string())
                .hinted(absent_file_hint(parent.repository)));
    }
    if (!blueprint.package_set.name.empty()) {
        mistakes.add(
            error_at(blueprint.package_set.location,
                     "package_set cannot be used together with [parent]")
                .hinted("the parent has the packages of a bootable image already: remove it"));
    }
}

/// A plan decides for a device what it runs.
void check_updates(const Blueprint& blueprint, Warnings& warnings) {
    if (blueprint.updates && blueprint.updates->rollouts &&
        blueprint.ostree.gpg_public_key.empty() && blueprint.ostree.ed25519_public_key.empty()) {
        warnings.push_back(fmt::format(
            "{}: rollouts without gpg_public_key in [ostree]: devices would follow the plans of "
            "whoever can answer for the server",
            blueprint.updates->location.text()));
    }
}

}  // namespace

std::vector<std::string> check_blueprint(const Blueprint& blueprint, Mistakes& mistakes) {
    Warnings warnings;
    // Of users with mistakes in them it is not known whether they can log in.
    const bool well_read = mistakes.empty();
    const bool usable = std::ranges::any_of(
        blueprint.repositories, [](const Repository& repository) { return repository.enabled; });
    if (!usable) {
        mistakes.add(error_at(blueprint.ostree.location, "no repository")
                         .hinted("add [[repositories]] with id and baseurl, or give a .repo file: "
                                 "--repository-file FILE"));
    }
    for (const Repository& repository : blueprint.repositories) {
        if (repository.enabled) {
            check_repository(repository, mistakes, warnings);
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
    check_content(blueprint, mistakes, warnings);
    if (well_read) {
        check_login(blueprint, mistakes, warnings);
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
    check_device(blueprint, std::time(nullptr), mistakes, warnings);
    check_contradictions(blueprint, mistakes, warnings);
    check_ostree(blueprint.ostree, blueprint.distro, mistakes, warnings);
    check_parent(blueprint, mistakes);
    check_updates(blueprint, warnings);
    if (blueprint.openshift) {
        check_node(blueprint, mistakes);
        for (const MachineSetRequest& set : blueprint.openshift->machine_sets) {
            mistakes.attempt(
                [&] { require_readable(set.location, "machine set", set.source.string()); });
        }
    }
    if (update_system(blueprint.distro) == UpdateSystem::snapshots) {
        check_snapshot_system(blueprint, mistakes, warnings);
    }
    find_mistakes(blueprint.test, mistakes);
    return warnings;
}

}  // namespace edgegpu
