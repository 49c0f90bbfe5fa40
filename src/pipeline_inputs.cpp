#include "pipeline_inputs.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "blueprint/policy_source.hpp"
#include "support/digest.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// Feeds values into a digest; every call is one self-delimiting field.
class InputDigest {
public:
    void text(std::string_view value) { digest_.update_field(value); }
    void number(std::uint64_t value) { text(std::to_string(value)); }
    void texts(const std::vector<std::string>& values) {
        number(values.size());
        for (const std::string& value : values) {
            text(value);
        }
    }
    /// The content of a file that only this build writes to.
    void copy(const fs::path& file) { text(sha256_file(file)); }
    /// An archive's content, or a directory's: relative names, types, executable bits, contents.
    void source(const std::shared_ptr<const StoredSource>& stored, const fs::path& path);
    [[nodiscard]] std::string hex() { return digest_.hex(); }

private:
    Sha256 digest_;
};

Error not_taken(const fs::path& path) {
    return error("{}: the build took no copy of it", path.string());
}

void InputDigest::source(const std::shared_ptr<const StoredSource>& stored, const fs::path& path) {
    if (!stored) {
        throw not_taken(path);
    }
    if (stored->archive) {
        text(stored->archive->digest);
        return;
    }
    number(stored->members.size());
    for (const StoredMember& member : stored->members) {
        text(member.name);
        if (member.type == MemberType::symlink) {
            text("link");
            text(member.target);
        } else if (member.type == MemberType::directory) {
            text("directory");
        } else {
            text(member.executable ? "executable" : "file");
            text(member.content.digest);
        }
    }
}

void add_configuration(InputDigest& digest, const Blueprint& blueprint) {
    digest.texts(blueprint.kernel_arguments);
    digest.text(blueprint.hostname);
    digest.text(blueprint.timezone);
    digest.texts(blueprint.ntp_servers);
    digest.texts(blueprint.languages);
    digest.text(blueprint.keyboard);
    digest.texts(blueprint.services.enabled);
    digest.texts(blueprint.services.disabled);
    digest.texts(blueprint.services.masked);
    digest.texts(blueprint.package_set.services);
    digest.texts(blueprint.modprobe.blacklist);
    digest.number(blueprint.modprobe.options.size());
    for (const auto& [module, options] : blueprint.modprobe.options) {
        digest.text(module);
        digest.text(options);
    }
    digest.text(blueprint.systemd.preset_all ? "preset-all" : "");
    digest.number(blueprint.systemd.units.size());
    for (const UnitRequest& unit : blueprint.systemd.units) {
        digest.text(unit.name);
        digest.text(unit.contents ? "contents" : "");
        digest.text(unit.contents.value_or(""));
        digest.text(unit.state);
        digest.number(unit.drop_ins.size());
        for (const auto& [file, text] : unit.drop_ins) {
            digest.text(file);
            digest.text(text);
        }
    }
    digest.number(blueprint.modprobe.softdeps.size());
    for (const auto& [module, others] : blueprint.modprobe.softdeps) {
        digest.text(module);
        digest.texts(others.pre);
        digest.texts(others.post);
    }
}

void add_accounts_and_files(InputDigest& digest, const Blueprint& blueprint) {
    const auto optional_number = [](const std::optional<std::uint32_t>& value) {
        return value ? std::to_string(*value) : std::string("auto");
    };
    digest.number(blueprint.groups_to_add.size());
    for (const GroupRequest& group : blueprint.groups_to_add) {
        digest.text(group.name);
        digest.text(optional_number(group.gid));
    }
    digest.number(blueprint.users.size());
    for (const UserRequest& user : blueprint.users) {
        for (const std::string& value : {user.name, user.description, user.password.value_or("!"),
                                         user.key, user.home, user.shell}) {
            digest.text(value);
        }
        digest.texts(user.groups);
        digest.text(optional_number(user.uid));
        digest.text(optional_number(user.gid));
        digest.text(optional_number(user.expire_date));
        digest.text(user.force_password_reset ? "reset" : "");
    }
    for (const auto* numbers : {&blueprint.accounts.uids, &blueprint.accounts.gids}) {
        digest.number(numbers->size());
        for (const auto& [name, number] : *numbers) {
            digest.text(name);
            digest.number(number);
        }
    }
    digest.number(blueprint.files.size());
    for (const FileRequest& file : blueprint.files) {
        for (const std::string& value : {file.path, file.user, file.group, file.data}) {
            digest.text(value);
        }
        digest.text(file.mode ? fmt::format("{:o}", *file.mode) : "default");
        digest.text(file.directory ? "directory" : "file");
        digest.text(file.ensure_parents ? "parents" : "");
        if (!file.source.empty() && !file.stored) {
            throw not_taken(file.source);
        }
        digest.text(file.stored ? file.stored->digest : "");
    }
}

void add_repository(InputDigest& digest, const DeviceRepository& device) {
    const Repository& repository = device.repository;
    for (const std::string& value : {device.filename, repository.id, repository.name,
                                     repository.metalink, repository.mirrorlist}) {
        digest.text(value);
    }
    digest.texts(repository.baseurls);
    digest.texts(repository.gpgkeys);
    digest.texts(device.inline_keys);
    digest.text(fmt::format("{:d}{:d}{:d}{:d}{:d}", repository.enabled, repository.gpgcheck,
                            repository.repo_gpgcheck, repository.sslverify,
                            repository.module_hotfixes));
    digest.number(static_cast<std::uint64_t>(repository.priority));
}

void add_firewall(InputDigest& digest, const Blueprint& blueprint) {
    digest.text(blueprint.firewall ? "firewall" : "");
    if (!blueprint.firewall) {
        return;
    }
    digest.texts(blueprint.firewall->ports);
    digest.texts(blueprint.firewall->enabled_services);
    digest.texts(blueprint.firewall->disabled_services);
    digest.number(blueprint.firewall->zones.size());
    for (const auto& [zone, sources] : blueprint.firewall->zones) {
        digest.text(zone);
        digest.texts(sources);
    }
}

/// What `[customizations]` says about the device beyond accounts, files and units.
void add_device_configuration(InputDigest& digest, const Blueprint& blueprint) {
    add_firewall(digest, blueprint);
    digest.texts(blueprint.ca_certificates);
    digest.text(blueprint.fips ? "fips" : "");
    digest.text(blueprint.container_store);
    digest.number(blueprint.firstboot.size());
    for (const FirstbootScript& script : blueprint.firstboot) {
        digest.text(script.name);
        digest.text(script.contents);
        digest.texts(script.after);
        digest.texts(script.before);
        digest.text(script.ignore_failure ? "ignore" : "");
    }
    digest.number(blueprint.device_repositories.size());
    for (const DeviceRepository& device : blueprint.device_repositories) {
        add_repository(digest, device);
    }
    // The version itself, as nothing else of the commit depends on it.
    digest.text(blueprint.set_release_version ? blueprint.distro + '/' + blueprint.releasever : "");
    digest.text(blueprint.subscription ? "subscription" : "");
    if (blueprint.subscription) {
        const SubscriptionRequest& request = *blueprint.subscription;
        for (const auto& flag :
             {request.product_id_plugin, request.subscription_manager_plugin, request.manage_repos,
              request.auto_enable_yum_plugins, request.auto_registration}) {
            digest.text(flag ? std::to_string(static_cast<int>(*flag)) : "unset");
        }
    }
}

std::string mode_text(const std::optional<unsigned>& mode) {
    return mode ? fmt::format("{:o}", *mode) : "default";
}

void add_overlay(InputDigest& digest, const OverlayRequest& overlay) {
    digest.text(overlay.stored && overlay.stored->archive ? "archive" : "directory");
    digest.source(overlay.stored, overlay.source);
    digest.text(overlay.target);
    digest.number(overlay.strip_components);
    digest.text(overlay.user);
    digest.text(overlay.group);
    digest.text(overlay.replace ? "replace" : "");
    digest.number(overlay.rules.size());
    for (const OverlayRule& rule : overlay.rules) {
        // No account has an empty name: an unset owner is none.
        for (const std::string& value : {rule.path, rule.user.value_or(""), rule.group.value_or(""),
                                         mode_text(rule.mode), rule.label}) {
            digest.text(value);
        }
    }
}

void add_directories_and_policy(InputDigest& digest, const Blueprint& blueprint) {
    digest.number(blueprint.overlays.size());
    for (const OverlayRequest& overlay : blueprint.overlays) {
        add_overlay(digest, overlay);
    }
    digest.number(blueprint.bundles.size());
    for (const BundleRequest& bundle : blueprint.bundles) {
        digest.text(bundle.name);
        digest.source(bundle.stored, bundle.source);
    }
    digest.number(blueprint.selinux.modules.size());
    for (const fs::path& module : blueprint.selinux.modules) {
        digest.text(module.filename().string());
        digest.copy(module);
        for (const char* extension : {".fc", ".if"}) {
            const fs::path beside = beside_module(module, extension);
            const bool used = module.extension() == ".te" && fs::exists(beside);
            digest.text(used ? extension : "");
            if (used) {
                digest.copy(beside);
            }
        }
    }
    digest.number(blueprint.selinux.booleans.size());
    for (const auto& [name, value] : blueprint.selinux.booleans) {
        digest.text(name);
        digest.text(value ? "on" : "off");
    }
    for (const auto* rules : {&blueprint.selinux.require, &blueprint.selinux.forbid}) {
        digest.number(rules->size());
        for (const PolicyRuleRequest& rule : *rules) {
            digest.text(rule.text);
        }
    }
    digest.text(blueprint.selinux.gpu_containers ? "gpu containers" : "");
    if (blueprint.selinux.gpu_containers) {
        digest.copy(blueprint.selinux.map_module);
    }
}

void add_packages(InputDigest& digest, const std::vector<ResolvedPackage>& packages) {
    digest.number(packages.size());
    for (const ResolvedPackage& package : packages) {
        digest.text(package.nevra.text());
        digest.text(package.content_id());
    }
}

/// What is compiled, what with, and who signs it. The certificate stands for the key, of which not
/// even a digest is to be in the commit.
void add_kernel_modules(InputDigest& digest, const Resolution& resolution,
                        std::string_view certificate) {
    if (!resolution.dkms_source) {
        return;
    }
    add_packages(digest, {*resolution.dkms_source});
    add_packages(digest, resolution.build_root);
    if (!certificate.empty()) {
        digest.text(sha256_hex(certificate));
    }
}

}  // namespace

std::string inputs_digest(const Blueprint& blueprint, const Resolution& resolution,
                          std::string_view certificate) {
    InputDigest digest;
    digest.text(EDGEGPU_VERSION);
    digest.text(blueprint.name);
    digest.text(blueprint.version);
    digest.text(blueprint.architecture);
    const OstreeRequest& ostree = blueprint.ostree;
    for (const std::string& value :
         {ostree.ref, ostree.parent, ostree.url, ostree.sign, ostree.remote}) {
        digest.text(value);
    }
    if (!ostree.gpg_public_key.empty()) {
        digest.copy(ostree.gpg_public_key);
    }
    add_configuration(digest, blueprint);
    add_accounts_and_files(digest, blueprint);
    add_device_configuration(digest, blueprint);
    add_directories_and_policy(digest, blueprint);
    add_packages(digest, resolution.packages);
    add_kernel_modules(digest, resolution, certificate);
    add_packages(digest, resolution.policy_root);
    return digest.hex();
}

std::int64_t image_time(const Resolution& resolution) {
    if (const char* text = std::getenv("SOURCE_DATE_EPOCH"); text != nullptr && *text != '\0') {
        std::int64_t value = 0;
        const char* end = text + std::strlen(text);
        const auto [stop, code] = std::from_chars(text, end, value);
        if (code != std::errc{} || stop != end || value < 0) {
            throw error(ErrorKind::usage, "SOURCE_DATE_EPOCH: '{}' is not a Unix time", text);
        }
        return value;
    }
    std::int64_t newest = 0;
    for (const ResolvedPackage& package : resolution.packages) {
        newest = std::max(newest, package.build_time);
    }
    return newest;
}

std::string describe(const Resolution& resolution) {
    std::string text =
        fmt::format("{} packages, kernel {}", resolution.packages.size(), resolution.kernel_uname);
    if (!resolution.driver_version.empty()) {
        text += ", driver " + resolution.driver_version;
    }
    return text;
}

std::string describe(const FetchedPackages& packages) {
    std::set<std::string> seen;
    std::uint64_t bytes = 0;
    const auto count = [&](const PackageFile& file) {
        bytes += seen.insert(file.sha256).second ? file.package.size : 0;
    };
    std::for_each(packages.image.begin(), packages.image.end(), count);
    const std::size_t image = seen.size();
    std::for_each(packages.policy_root.begin(), packages.policy_root.end(), count);
    if (packages.module_build) {
        const ModuleBuildFiles& build = *packages.module_build;
        std::for_each(build.root.begin(), build.root.end(), count);
        count(build.source);
    }
    std::string text = fmt::format("{} packages, {}", seen.size(), human_size(bytes));
    if (seen.size() > image) {
        text += fmt::format(", {} of them to compile with", seen.size() - image);
    }
    return text;
}

std::string describe(const PackageFile& package) {
    return fmt::format("{}, {}", package.package.nevra.text(), human_size(package.package.size));
}

BuildResult unchanged_result(const Blueprint& blueprint, const Resolution& resolution,
                             const Parent& parent) {
    BuildResult result;
    result.resolution = resolution;
    result.commit.ref = blueprint.ostree.ref;
    result.commit.checksum = parent.checksum;
    result.commit.version = parent.version;
    result.unchanged = true;
    return result;
}

}  // namespace edgegpu
