#include "customise/system/device_repositories.hpp"

#include <map>
#include <string_view>

#include <fmt/format.h>

#include "openpgp/key_file.hpp"
#include "support/error.hpp"
#include "support/text/deployed_path.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// A section of a .repo file; keys that decide about trust are written even if they are dnf's
/// defaults.
std::string repo_section(const Repository& repository) {
    std::string text = fmt::format("[{}]\nname={}\n", repository.id, repository.name);
    const auto line = [&](const char* key, const std::string& value) {
        if (!value.empty()) {
            text += fmt::format("{}={}\n", key, value);
        }
    };
    line("baseurl", fmt::format("{}", fmt::join(repository.baseurls, " ")));
    line("metalink", repository.metalink);
    line("mirrorlist", repository.mirrorlist);
    text += fmt::format("enabled={:d}\ngpgcheck={:d}\nrepo_gpgcheck={:d}\n", repository.enabled,
                        repository.gpgcheck, repository.repo_gpgcheck);
    line("gpgkey", fmt::format("{}", fmt::join(repository.gpgkeys, " ")));
    text += fmt::format("sslverify={:d}\n", repository.sslverify);
    constexpr int usual_priority = 99;
    if (repository.priority != usual_priority) {
        line("priority", std::to_string(repository.priority));
    }
    if (repository.module_hotfixes) {
        line("module_hotfixes", "1");
    }
    return text;
}

/// Throws ErrorKind::usage unless a file of gpgkey with this content has a public key.
void require_public_key(const Repository& repository, std::string_view content,
                        std::string_view what) {
    const std::string origin = fmt::format("{} of repository \"{}\"", what, repository.id);
    try {
        static_cast<void>(read_key_file(content, origin));
    } catch (const Error& failure) {
        throw error_at(repository.location, "{}", failure.message())
            .hinted("devices would refuse every package of the repository");
    }
}

/// Looks at the key files that a repository expects in the image.
void check_key_files(const Context& ctx, const DeviceRepository& device, const Tree& tree) {
    constexpr std::string_view scheme = "file://";
    const Repository& repository = device.repository;
    const bool verifies = repository.gpgcheck || repository.repo_gpgcheck;
    const std::string inline_key = fmt::format("/etc/pki/rpm-gpg/RPM-GPG-KEY-{}-", repository.id);
    for (const std::string& key : repository.gpgkeys) {
        const std::string path = key.starts_with(scheme) ? key.substr(scheme.size()) : "";
        const bool judged = verifies && !path.empty() && path.find('$') == std::string::npos &&
                            !is_path_of_device(deployed_path(path));
        const Entry* entry = judged ? find_entry(tree, path) : nullptr;
        const bool is_ours = !device.inline_keys.empty() && path.starts_with(inline_key);
        if (judged && entry == nullptr) {
            ctx.console->warn(fmt::format(
                "{}: the image has no {}, with which devices verify the packages of repository "
                "\"{}\": they would refuse them",
                repository.location.text(), path, repository.id));
        } else if (judged && !is_ours && entry->type == EntryType::file) {
            require_public_key(repository, read_entry(tree, path), path);
        }
    }
}

void change_ini(const Context& ctx, Tree& tree, const SubscriptionRequest& request,
                const std::string& path, const std::string& section, const std::string& key,
                const std::optional<bool>& value) {
    if (!value) {
        return;
    }
    const Entry* old = find_entry(tree, path);
    if (old == nullptr) {
        throw error(ErrorKind::usage, "{}: the image has no {}", request.location.text(), path)
            .hinted("add the package subscription-manager (and its plugins for dnf)");
    }
    Entry entry = make_file_entry(
        ctx, with_ini_value(read_entry(tree, path), section, key, *value ? "1" : "0"), old->mode);
    entry.uid = old->uid;
    entry.gid = old->gid;
    put_entry(tree, path, entry);
}

}  // namespace

std::string with_ini_value(const std::string& text, const std::string& section,
                           const std::string& key, const std::string& value) {
    const std::string wanted = fmt::format("{}={}", key, value);
    std::vector<std::string> lines;
    std::optional<std::size_t> end_of_section;
    bool inside = false;
    bool done = false;
    for (const std::string_view line : lines_of(text)) {
        const std::string_view plain = trim(line);
        if (plain.starts_with('[')) {
            inside = plain == fmt::format("[{}]", section);
        }
        const std::string_view name = trim(plain.substr(0, plain.find_first_of("=:")));
        if (inside && !done && name == key && name != plain) {
            lines.push_back(wanted);
            done = true;
        } else {
            lines.emplace_back(line);
        }
        if (inside && !plain.empty()) {
            end_of_section = lines.size();
        }
    }
    if (!done && end_of_section) {
        lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(*end_of_section), wanted);
    } else if (!done) {
        lines.push_back(fmt::format("[{}]", section));
        lines.push_back(wanted);
    }
    return fmt::format("{}\n", fmt::join(lines, "\n"));
}

void check_inline_keys(const std::vector<DeviceRepository>& repositories, Mistakes& mistakes) {
    for (const DeviceRepository& device : repositories) {
        for (const std::string& key : device.inline_keys) {
            mistakes.attempt([&] { require_public_key(device.repository, key, "gpgkeys"); });
        }
    }
}

void add_device_repositories(const Context& ctx, const std::vector<DeviceRepository>& repositories,
                             const std::string& releasever, Tree& tree) {
    std::map<std::string, std::string> files;
    for (const DeviceRepository& device : repositories) {
        std::string& text = files[device.filename];
        text += (text.empty() ? "" : "\n") + repo_section(device.repository);
        for (std::size_t i = 0; i < device.inline_keys.size(); ++i) {
            std::string key = device.inline_keys[i];
            key += key.ends_with('\n') ? "" : "\n";
            put_entry(tree,
                      fmt::format("/etc/pki/rpm-gpg/RPM-GPG-KEY-{}-{}", device.repository.id, i),
                      make_file_entry(ctx, key, 0644));
        }
    }
    for (const DeviceRepository& device : repositories) {
        check_key_files(ctx, device, tree);
    }
    for (const auto& [name, text] : files) {
        const std::string path = "/etc/yum.repos.d/" + name;
        if (find_entry(tree, path) != nullptr) {
            ctx.console->warn_of("files that customizations.repositories replace", path);
        }
        put_entry(tree, path, make_file_entry(ctx, text, 0644));
    }
    if (!releasever.empty()) {
        put_entry(tree, "/etc/dnf/vars/releasever", make_file_entry(ctx, releasever + "\n", 0644));
    }
}

void set_subscription(const Context& ctx, const std::optional<SubscriptionRequest>& subscription,
                      Tree& tree) {
    if (!subscription) {
        return;
    }
    const SubscriptionRequest& request = *subscription;
    const auto change = [&](const char* path, const char* section, const char* key,
                            const std::optional<bool>& value) {
        change_ini(ctx, tree, request, path, section, key, value);
    };
    change("/etc/dnf/plugins/product-id.conf", "main", "enabled", request.product_id_plugin);
    change("/etc/dnf/plugins/subscription-manager.conf", "main", "enabled",
           request.subscription_manager_plugin);
    const char* rhsm = "/etc/rhsm/rhsm.conf";
    change(rhsm, "rhsm", "manage_repos", request.manage_repos);
    change(rhsm, "rhsm", "auto_enable_yum_plugins", request.auto_enable_yum_plugins);
    change(rhsm, "rhsmcertd", "auto_registration", request.auto_registration);
}

}  // namespace edgegpu
