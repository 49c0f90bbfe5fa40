#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "blueprint/customizations/customizations.hpp"
#include "blueprint/tables/tables.hpp"
#include "blueprint/toml/validate.hpp"
#include "support/source_location.hpp"
#include "support/text/boot_arguments.hpp"

namespace edgegpu {

namespace {

void read_services(const TableReader& table, ServicesRequest& services) {
    std::map<std::string, std::string> seen;
    const auto read = [&](const char* key, std::vector<std::string>& units) {
        for (const LocatedString& unit : table.strings(key)) {
            table.attempt([&] {
                require_unit_name(unit.location, unit.value);
                const auto [earlier, fresh] = seen.emplace(unit.value, key);
                if (!fresh && earlier->second != key) {
                    throw error_at(unit.location, "unit \"{}\" is both {} and {}", unit.value,
                                   earlier->second, key);
                }
                if (fresh) {
                    units.push_back(unit.value);
                    services.locations.emplace(unit.value, unit.location);
                }
            });
        }
    };
    read("enabled", services.enabled);
    read("disabled", services.disabled);
    read("masked", services.masked);
    table.finish();
}

void read_kernel(const TableReader& table, Blueprint& blueprint) {
    // That of the distribution until now.
    if (std::string name = table.string("name"); !name.empty()) {
        blueprint.kernel.name = std::move(name);
    }
    if (!is_plain_name(blueprint.kernel.name, "_.-+")) {
        table.note(error_at(table, "name", "invalid package name \"{}\"", blueprint.kernel.name));
    }
    blueprint.kernel.location = table.location("append");
    blueprint.kernel.arguments = read_kernel_arguments(table, "append");
    table.finish();
}

void read_time_and_language(const TableReader& customizations, Blueprint& blueprint) {
    if (const auto timezone = customizations.table("timezone")) {
        blueprint.timezone.name = timezone->string("timezone");
        blueprint.timezone.location =
            timezone->location(timezone->has("timezone") ? "timezone" : "ntpservers");
        if (!blueprint.timezone.name.empty()) {
            timezone->attempt(
                [&] { require_timezone(blueprint.timezone.location, blueprint.timezone.name); });
        }
        for (const LocatedString& server : timezone->strings("ntpservers")) {
            if (is_plain_name(server.value, ".-:")) {
                blueprint.timezone.ntp_servers.push_back(server.value);
            } else {
                timezone->note(
                    error_at(server.location, "invalid NTP server \"{}\"", server.value));
            }
        }
        timezone->finish();
    }
    if (const auto locale = customizations.table("locale")) {
        blueprint.locale.location = locale->location();
        for (const LocatedString& language : locale->strings("languages")) {
            if (is_plain_name(language.value, "_.-@")) {
                blueprint.locale.languages.push_back(language.value);
            } else {
                locale->note(error_at(language.location, "invalid locale \"{}\"", language.value)
                                 .hinted("as in \"en_US.UTF-8\""));
            }
        }
        blueprint.locale.keyboard = locale->string("keyboard");
        if (!blueprint.locale.keyboard.empty() &&
            !is_plain_name(blueprint.locale.keyboard, "_.-")) {
            locale->note(error_at(*locale, "keyboard", "invalid keyboard layout \"{}\"",
                                  blueprint.locale.keyboard));
        }
        locale->finish();
    }
}

void read_device_configuration(const TableReader& table, Blueprint& blueprint) {
    blueprint.fips.enabled = table.boolean("fips", false);
    blueprint.fips.location = table.location("fips");
    using Read = void (*)(const TableReader&, Blueprint&);
    for (const auto& [key, read] : {std::pair<const char*, Read>{"firewall", read_firewall},
                                    {"cacerts", read_certificates},
                                    {"firstboot", read_firstboot},
                                    {"dnf", read_dnf},
                                    {"rhsm", read_subscription},
                                    {"containers-storage", read_container_store}}) {
        if (const auto found = table.table(key)) {
            table.attempt([&, read = read] { read(*found, blueprint); });
        }
    }
    table.each_table("repositories", read_device_repository, blueprint);
}

/// Image builder's keys for installers and containers, with what to use instead for a
/// commit.
void refuse_keys_of_other_images(const TableReader& table) {
    constexpr const char* installer =
        "this is for the installer: put it into the kickstart file that installs the commit";
    const std::array<std::pair<std::string_view, std::string_view>, 8> foreign{{
        {"fdo",
         "add the packages fdo-client and fdo-owner-cli and enable fdo-client-linuxapp in "
         "customizations.services; the server is an argument of the installer"},
        {"ignition",
         "the configuration is read when a device is installed: pass ignition.config.url=… to the "
         "installer; or use customizations.user, files and firstboot"},
        {"installation_device",
         "for an installation medium (edgegpu image --type installer-iso), name the disk by "
         "target_rule in [image], as in \"path=/dev/vda\""},
        {"installer", installer},
        {"iso", installer},
        {"openscap",
         "add the packages openscap-scanner and scap-security-guide, and run oscap in "
         "customizations.firstboot"},
        {"rpm",
         "the rpm database of a commit is read-only on the device: give the keys to "
         "customizations.repositories (gpgkeys)"},
        {"sshd", "add a file in /etc/ssh/sshd_config.d with customizations.files"},
    }};
    for (const auto& [key, instead] : foreign) {
        table.refuse_foreign(key, instead);
    }
}

}  // namespace

std::vector<std::string> read_kernel_arguments(const TableReader& table, std::string_view key) {
    std::vector<std::string> arguments;
    table.attempt(
        [&] { arguments = split_kernel_arguments(table.location(key), table.string(key)); });
    for (const std::string& argument : arguments) {
        if (const std::string_view reason = boot_argument_reason(argument); !reason.empty()) {
            table.note(error_at(table, key, "the kernel argument \"{}\" cannot be set: {}",
                                argument.substr(0, argument.find('=')), reason)
                           .hinted("remove it: a device would not boot"));
        }
    }
    return arguments;
}

std::vector<std::string> split_kernel_arguments(const SourceLocation& location,
                                                std::string_view line) {
    std::vector<std::string> arguments;
    std::string current;
    bool quoted = false;
    for (const char c : line) {
        if (c == '"') {
            quoted = !quoted;
        }
        if (c != ' ' || quoted) {
            current += c;
        } else if (!current.empty()) {
            arguments.push_back(std::move(current));
            current.clear();
        }
    }
    if (quoted) {
        throw error_at(location, "unclosed quote in the kernel arguments");
    }
    if (!current.empty()) {
        arguments.push_back(std::move(current));
    }
    return arguments;
}

void read_customizations(const TableReader& table, Blueprint& blueprint) {
    blueprint.hostname = table.string("hostname");
    blueprint.hostname_location = table.location("hostname");
    if (!blueprint.hostname.empty()) {
        table.attempt([&] { require_hostname(blueprint.hostname_location, blueprint.hostname); });
    }
    table.with_table("kernel", read_kernel, blueprint);
    table.each_table("group", read_group, blueprint);
    table.each_table("user", read_user, blueprint);
    table.each_table("sshkey", read_ssh_key, blueprint);
    read_time_and_language(table, blueprint);
    table.each_table("directories", read_file_request, true, blueprint);
    table.each_table("files", read_file_request, false, blueprint);
    if (const auto services = table.table("services")) {
        read_services(*services, blueprint.services);
    }
    read_device_configuration(table, blueprint);
    read_disk_customizations(table, blueprint);
    refuse_keys_of_other_images(table);
    table.finish();
}

}  // namespace edgegpu
