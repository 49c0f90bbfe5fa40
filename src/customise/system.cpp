#include "customise/system.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "compose/account_files.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/sandbox.hpp"

namespace edgegpu {

namespace {

constexpr std::array<std::string_view, 2> unit_directories{"/etc/systemd/system",
                                                           "/usr/lib/systemd/system"};

/// The blueprint's place for keys whose line the blueprint does not keep.
std::string where(const Blueprint& blueprint, std::string_view key) {
    return fmt::format("{}: {}", blueprint.path.string(), key);
}

void check_one_line(const Blueprint& blueprint, std::string_view key, const std::string& value) {
    if (value.find_first_of(std::string_view("\n\r\0", 3)) != std::string::npos) {
        throw error(ErrorKind::usage, "{}: '{}' is not one line", where(blueprint, key), value);
    }
}

Entry link_to(std::string target) {
    Entry entry;
    entry.type = EntryType::symlink;
    entry.mode = 0777;
    entry.target = std::move(target);
    return entry;
}

void set_timezone(const Blueprint& blueprint, Tree& tree) {
    const std::string zone = "/usr/share/zoneinfo/" + blueprint.timezone;
    const Entry* entry = find_entry(tree, zone);
    const bool climbs = blueprint.timezone.find("..") != std::string::npos;
    if (climbs || entry == nullptr || entry->type != EntryType::file) {
        std::vector<std::string> zones;
        const std::string top = "/usr/share/zoneinfo/";
        for (auto at = tree.entries.lower_bound(top);
             at != tree.entries.end() && at->first.starts_with(top); ++at) {
            zones.push_back(at->first.substr(top.size()));
        }
        throw error(ErrorKind::usage, "{}: the image has no time zone '{}'",
                    where(blueprint, "customizations.timezone"), blueprint.timezone)
            .hinted(zones.empty() ? "add the package tzdata"
                                  : near_names_hint(blueprint.timezone, zones));
    }
    put_entry(tree, "/etc/localtime", link_to(".." + zone));
}

/// chrony.conf without its own servers, then the blueprint's, as image builder does it.
void set_ntp_servers(const Context& ctx, const Blueprint& blueprint, Tree& tree) {
    const char* key = "customizations.timezone.ntpservers";
    std::string path = "/etc/chrony.conf";
    if (find_entry(tree, path) == nullptr) {
        path = "/etc/chrony/chrony.conf";
    }
    const Entry* old = find_entry(tree, path);
    if (old == nullptr) {
        throw error(ErrorKind::usage, "{}: the image has no chrony", where(blueprint, key))
            .hinted("add the package chrony");
    }
    std::string text;
    for (const std::string& server : blueprint.ntp_servers) {
        check_one_line(blueprint, key, server);
        text += fmt::format("server {} iburst\n", server);
    }
    const std::string before = read_entry(tree, path);
    for (std::size_t at = 0; at < before.size();) {
        const std::size_t end = std::min(before.find('\n', at), before.size());
        const std::string_view line = std::string_view(before).substr(at, end - at);
        const std::string_view word = line.substr(0, line.find_first_of(" \t"));
        if (word != "server" && word != "pool" && word != "peer") {
            text += fmt::format("{}\n", line);
        }
        at = end + 1;
    }
    Entry entry = make_file_entry(ctx, text, old->mode);
    entry.uid = old->uid;
    entry.gid = old->gid;
    put_entry(tree, path, entry);
}

/// "sshd" → "sshd.service"; names with a unit suffix stay.
std::string full_unit_name(const std::string& name) {
    static constexpr std::array<std::string_view, 11> suffixes{
        ".service",   ".socket", ".target", ".timer", ".path",  ".mount",
        ".automount", ".swap",   ".slice",  ".scope", ".device"};
    const bool full = std::any_of(suffixes.begin(), suffixes.end(),
                                  [&](std::string_view suffix) { return name.ends_with(suffix); });
    return full ? name : name + ".service";
}

bool has_unit(const Tree& tree, const std::string& unit) {
    const std::size_t at = unit.find('@');
    const std::size_t dot = unit.rfind('.');
    const std::string pattern =
        at != std::string::npos && at < dot ? unit.substr(0, at + 1) + unit.substr(dot) : unit;
    return std::any_of(unit_directories.begin(), unit_directories.end(),
                       [&](std::string_view directory) {
                           return tree.entries.contains(fmt::format("{}/{}", directory, unit)) ||
                                  tree.entries.contains(fmt::format("{}/{}", directory, pattern));
                       });
}

std::string near_units(const Tree& tree, const std::string& unit) {
    std::set<std::string> names;
    for (const std::string_view directory : unit_directories) {
        const std::string top = fmt::format("{}/", directory);
        for (auto at = tree.entries.lower_bound(top);
             at != tree.entries.end() && at->first.starts_with(top); ++at) {
            const std::string name = at->first.substr(top.size());
            if (name.find('/') == std::string::npos) {
                names.insert(name);
            }
        }
    }
    return near_names_hint(unit, {names.begin(), names.end()});
}

std::vector<std::string> checked_units(const Blueprint& blueprint, const Tree& tree,
                                       const char* verb, const std::vector<std::string>& names) {
    std::vector<std::string> units;
    for (const std::string& name : names) {
        std::string unit = full_unit_name(name);
        const bool plain = !unit.starts_with('-') && unit.find('/') == std::string::npos;
        if (!plain || !has_unit(tree, unit)) {
            std::string hint = near_units(tree, unit);
            throw error(ErrorKind::usage, "{}: the image has no unit '{}'",
                        where(blueprint, fmt::format("customizations.services.{}", verb)), unit)
                .hinted(hint.empty() ? "add the package that brings it" : std::move(hint));
        }
        units.push_back(std::move(unit));
    }
    return units;
}

void run_systemctl(const Context& ctx, const Tree& tree, const char* verb,
                   const std::vector<std::string>& units) {
    if (units.empty()) {
        return;
    }
    SandboxCommand command;
    command.root = tree.root;
    command.kernel = tree.kernel;
    command.argv = {"systemctl", "--root=/", verb};
    command.argv.insert(command.argv.end(), units.begin(), units.end());
    const ProcessResult result = run_in_sandbox(ctx, command);
    if (result.status != 0) {
        throw error("systemctl {} {} failed in the image with status {}", verb,
                    fmt::join(units, " "), result.status)
            .traced(result.output);
    }
}

}  // namespace

void set_identity(const Context& ctx, const Blueprint& blueprint, Tree& tree) {
    if (!blueprint.hostname.empty()) {
        check_one_line(blueprint, "customizations.hostname", blueprint.hostname);
        put_entry(tree, "/etc/hostname", make_file_entry(ctx, blueprint.hostname + "\n", 0644));
    }
    if (!blueprint.timezone.empty()) {
        set_timezone(blueprint, tree);
    }
    if (!blueprint.ntp_servers.empty()) {
        set_ntp_servers(ctx, blueprint, tree);
    }
    if (!blueprint.languages.empty()) {
        check_one_line(blueprint, "customizations.locale.languages", blueprint.languages.front());
        put_entry(tree, "/etc/locale.conf",
                  make_file_entry(ctx, "LANG=" + blueprint.languages.front() + "\n", 0644));
    }
    if (!blueprint.keyboard.empty()) {
        check_one_line(blueprint, "customizations.locale.keyboard", blueprint.keyboard);
        put_entry(tree, "/etc/vconsole.conf",
                  make_file_entry(ctx, "KEYMAP=" + blueprint.keyboard + "\n", 0644));
    }
}

void set_services(const Context& ctx, const Blueprint& blueprint, Tree& tree) {
    const ServicesRequest& request = blueprint.services;
    const auto enabled = checked_units(blueprint, tree, "enabled", request.enabled);
    const auto disabled = checked_units(blueprint, tree, "disabled", request.disabled);
    for (const std::string& name : request.masked) {
        // Masking what is not there is a precaution that makes sense: it is no error.
        const std::string unit = full_unit_name(name);
        if (unit.find('/') != std::string::npos) {
            throw error(ErrorKind::usage, "{}: '{}' is not the name of a unit",
                        where(blueprint, "customizations.services.masked"), unit);
        }
        if (!has_unit(tree, unit)) {
            ctx.console->warn_of("masked units that are not in the image", unit);
        }
        put_entry(tree, "/etc/systemd/system/" + unit, link_to("/dev/null"));
    }
    if (!enabled.empty() || !disabled.empty()) {
        run_systemctl(ctx, tree, "disable", disabled);
        run_systemctl(ctx, tree, "enable", enabled);
        sync_tree(ctx, tree);
    }
}

void add_remote(const Context& ctx, const Blueprint& blueprint, Tree& tree) {
    const OstreeRequest& ostree = blueprint.ostree;
    if (ostree.url.empty()) {
        return;
    }
    check_one_line(blueprint, "ostree.url", ostree.url);
    if (ostree.remote.empty() || ostree.remote.find_first_of("/\"[]\n") != std::string::npos) {
        throw error(ErrorKind::usage, "{}: '{}' is not the name of a remote",
                    where(blueprint, "ostree.remote"), ostree.remote);
    }
    std::string text = fmt::format("[remote \"{}\"]\nurl={}\n", ostree.remote, ostree.url);
    if (ostree.gpg_public_key.empty()) {
        ctx.console->warn(fmt::format(
            "devices will not verify what they pull from '{}': [ostree] names no gpg_public_key",
            ostree.remote));
        text += "gpg-verify=false\n";
    } else {
        const std::string key = fmt::format("/etc/pki/edgegpu/{}.gpg", ostree.remote);
        put_entry(tree, key, make_file_entry(ctx, read_file(ostree.gpg_public_key), 0644));
        text += fmt::format("gpg-verify=true\ngpgkeypath={}\n", key);
    }
    put_entry(tree, fmt::format("/etc/ostree/remotes.d/{}.conf", ostree.remote),
              make_file_entry(ctx, text, 0644));
}

}  // namespace edgegpu
