#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "blueprint/customizations/customizations.hpp"
#include "blueprint/toml/validate.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

namespace {

std::string read_filename(const TableReader& table, const std::string& id) {
    std::string name = table.string("filename", id);
    if (!name.ends_with(".repo")) {
        name += ".repo";
    }
    if (!is_plain_name(name, "_.-:") || name.size() > 255) {
        throw error_at(table.has("filename") ? table.location("filename") : table.location("id"),
                       "\"{}\" cannot be a file of /etc/yum.repos.d", name)
            .hinted("letters, digits, '_', '.' and '-', ending with \".repo\"");
    }
    return name;
}

/// dnf separates several URLs of a line by spaces and commas, and guesses no scheme.
void check_url(const TableReader& table, const std::string& key, const std::string& url,
               const SourceLocation& location) {
    const std::size_t end = url.find("://");
    const std::string_view scheme =
        std::string_view(url).substr(0, end == std::string::npos ? 0 : end);
    const bool known = scheme == "https" || scheme == "http" || scheme == "ftp" || scheme == "file";
    if (url.find_first_of(" \t,") != std::string::npos) {
        table.note(error_at(location, "\"{}\" has a space or a comma: dnf would read several URLs",
                            table.full_name(key))
                       .hinted("one URL in a string, and %20 or %2C for these characters"));
    } else if (!known || url.size() == end + 3) {
        table.note(error_at(location, "\"{}\" is not a URL that dnf reads", table.full_name(key))
                       .hinted("https://…, http://…, ftp://…, or file:///… of the image"));
    }
}

/// Keys given as text become files; the others must be URLs or absolute paths.
void read_keys(const TableReader& table, DeviceRepository& device) {
    constexpr std::string_view begin = "-----BEGIN PGP PUBLIC KEY BLOCK-----";
    constexpr std::string_view end = "-----END PGP PUBLIC KEY BLOCK-----";
    for (const LocatedString& key : table.texts("gpgkeys")) {
        if (key.value.starts_with(begin) && key.value.find(end) != std::string::npos) {
            device.repository.gpgkeys.push_back("file:///etc/pki/rpm-gpg/RPM-GPG-KEY-" +
                                                device.repository.id + '-' +
                                                std::to_string(device.inline_keys.size()));
            device.inline_keys.push_back(key.value);
            continue;
        }
        const bool url = key.value.find("://") != std::string::npos;
        if (url && !has_control_characters(key.value)) {
            check_url(table, "gpgkeys", key.value, key.location);
        }
        if (has_control_characters(key.value) || (!url && !key.value.starts_with('/'))) {
            table.note(error_at(key.location, "\"{}\" is neither a URL nor a public key",
                                table.full_name("gpgkeys"))
                           .hinted("file:///… of the image, https://…, or the text of an armoured "
                                   "key"));
            continue;
        }
        device.repository.gpgkeys.push_back(url ? key.value : "file://" + key.value);
    }
}

/// Settings that depend on neither id nor keys.
void read_settings(const TableReader& table, Repository& repository) {
    for (const LocatedString& url : table.strings("baseurls")) {
        check_url(table, "baseurls", url.value, url.location);
        repository.baseurls.push_back(url.value);
    }
    for (const auto& [key, value] :
         {std::pair<const char*, std::string&>{"metalink", repository.metalink},
          {"mirrorlist", repository.mirrorlist}}) {
        value = table.string(key);
        if (!value.empty()) {
            check_url(table, key, value, table.location(key));
        }
    }
    // Defaults as in dnf on RHEL: packages are verified, metadata are not.
    repository.gpgcheck = table.boolean("gpgcheck", true);
    repository.repo_gpgcheck = table.boolean("repo_gpgcheck", false);
    repository.enabled = table.boolean("enabled", true);
    repository.sslverify = table.boolean("sslverify", true);
    repository.module_hotfixes = table.boolean("module_hotfixes", false);
    repository.priority = static_cast<int>(table.integer("priority", 0, 1000000).value_or(99));
}

}  // namespace

void read_device_repository(const TableReader& table, Blueprint& blueprint) {
    DeviceRepository device;
    Repository& repository = device.repository;
    repository.location = table.location();
    read_settings(table, repository);
    // Image builder can also install packages from a device's repository.
    table.refuse_unsupported({"install_from"});
    table.finish({"id", "filename", "name", "gpgkeys"});
    repository.id = table.required_string("id");
    if (!is_plain_name(repository.id, "_.-:")) {
        throw error_at(table, "id", "invalid repository id \"{}\"", repository.id)
            .hinted("letters, digits, '_', '.', '-' and ':'");
    }
    if (repository.id == "main") {
        throw error_at(table, "id",
                       "\"main\" cannot be the id of a repository: dnf reads its own "
                       "settings from a section of this name")
            .hinted("give the repository another id");
    }
    for (const DeviceRepository& earlier : blueprint.device_repositories) {
        if (earlier.repository.id == repository.id) {
            throw error_at(repository.location, "duplicate repository \"{}\" (first at {})",
                           repository.id,
                           place_seen_from(repository.location, earlier.repository.location));
        }
    }
    table.attempt([&] { device.filename = read_filename(table, repository.id); });
    repository.name = table.string("name", repository.id);
    if (repository.baseurls.empty() && repository.metalink.empty() &&
        repository.mirrorlist.empty()) {
        table.note(error_at(repository.location,
                            "repository \"{}\" has neither baseurls nor metalink nor mirrorlist",
                            repository.id));
    }
    read_keys(table, device);
    if (!table.has("gpgkeys") &&
        ((table.has("gpgcheck") && repository.gpgcheck) || repository.repo_gpgcheck)) {
        table.note(error_at(repository.location,
                            "repository \"{}\" has no gpgkeys to verify signatures with",
                            repository.id));
    }
    blueprint.device_repositories.push_back(std::move(device));
}

namespace {

/// "9.4" of "rhel-9.4", or the blueprint's releasever if that is not its major version.
std::string version_of_release(const Blueprint& blueprint) {
    const std::string exact = blueprint.distro.substr(blueprint.distro.rfind('-') + 1);
    return exact.starts_with(blueprint.releasever + '.') ? exact : blueprint.releasever;
}

}  // namespace

void read_dnf(const TableReader& table, Blueprint& blueprint) {
    if (const auto config = table.table("config")) {
        const bool set = config->boolean("set_releasever", false);
        if (set) {
            blueprint.device_releasever = version_of_release(blueprint);
        }
        if (set && blueprint.releasever.empty()) {
            table.note(error_at(*config, "set_releasever",
                                "\"{}\" needs a version to set: the blueprint has no distro",
                                config->full_name("set_releasever")));
        }
        config->finish();
    }
    table.finish();
}

void read_subscription(const TableReader& table, Blueprint& blueprint) {
    SubscriptionRequest request;
    request.location = table.location();
    const auto flag = [](const TableReader& from, std::string_view key) {
        return from.has(key) ? std::optional(from.boolean(key, false)) : std::nullopt;
    };
    const auto config = table.table("config");
    if (const auto plugins = config ? config->table("dnf_plugins") : std::nullopt) {
        if (const auto product = plugins->table("product_id")) {
            request.product_id_plugin = flag(*product, "enabled");
            product->finish();
        }
        if (const auto manager = plugins->table("subscription_manager")) {
            request.subscription_manager_plugin = flag(*manager, "enabled");
            manager->finish();
        }
        plugins->finish();
    }
    if (const auto manager = config ? config->table("subscription_manager") : std::nullopt) {
        if (const auto rhsm = manager->table("rhsm")) {
            request.manage_repos = flag(*rhsm, "manage_repos");
            request.auto_enable_yum_plugins = flag(*rhsm, "auto_enable_yum_plugins");
            rhsm->finish();
        }
        if (const auto daemon = manager->table("rhsmcertd")) {
            request.auto_registration = flag(*daemon, "auto_registration");
            daemon->finish();
        }
        manager->finish();
    }
    if (config) {
        config->finish();
    }
    table.finish();
    blueprint.subscription = request;
}

}  // namespace edgegpu
