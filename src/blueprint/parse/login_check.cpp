#include "blueprint/parse/login_check.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "blueprint/sources/overlay_source.hpp"
#include "support/error.hpp"
#include "support/path_glob.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

namespace {

constexpr const char* hint =
    "add a [[customizations.user]] with a key or password; or say that users are added when a "
    "device is installed: [accounts] login = \"provisioned\", or that nobody is to log in: login = "
    "\"none\"";

/// Programs that add users when a device is installed or boots for the first time.
constexpr std::array<std::string_view, 8> provisioning{
    "afterburn", "cloud-init", "fdo-client", "flightctl-agent",
    "ignition",  "ipa-client", "realmd",     "sssd"};

/// Files by which somebody may be let in: keys, certificates or commands of sshd, logins without a
/// password on a console, users of a directory, configuration of the programs above.
constexpr std::array<std::string_view, 13> letting_in{
    "/etc/ssh/sshd_config",
    "/etc/ssh/sshd_config.d/*",
    "/etc/ssh/authorized_keys/**",
    "/etc/ssh/authorized_keys.d/**",
    "/**/.ssh/authorized_keys*",
    "/**/*getty*.service.d/*",
    "/etc/sssd/**",
    "/etc/cloud/**",
    "/usr/lib/ignition/**",
    "/usr/lib/dracut/modules.d/*ignition*/**",
    "/etc/fdo/**",
    "/etc/shadow",
    "/etc/flightctl/**",
};

bool lets_in(std::string_view path) {
    static const std::vector<PathGlob> globs(letting_in.begin(), letting_in.end());
    return std::any_of(globs.begin(), globs.end(),
                       [&](const PathGlob& glob) { return glob.matches(path); });
}

bool sshd_is_off(const Blueprint& blueprint) {
    const auto is_sshd = [](const std::string& unit) {
        return unit == "sshd" || unit == "sshd.service" || unit == "ssh.service";
    };
    const auto in = [&](const std::vector<std::string>& units) {
        return std::any_of(units.begin(), units.end(), is_sshd);
    };
    return in(blueprint.services.disabled) || in(blueprint.services.masked) ||
           std::any_of(blueprint.systemd.units.begin(), blueprint.systemd.units.end(),
                       [&](const UnitRequest& unit) {
                           return is_sshd(unit.name) && (unit.state == UnitState::disabled ||
                                                         unit.state == UnitState::masked);
                       });
}

bool has_user(const Blueprint& blueprint) {
    const bool keys_count = !sshd_is_off(blueprint);
    return std::any_of(
        blueprint.users.begin(), blueprint.users.end(), [&](const UserRequest& user) {
            const bool credential = is_usable_password(user.password.value_or("*")) ||
                                    (keys_count && !user.key.empty());
            return credential && !refuses_login(user.shell);
        });
}

/// Whether a unit or its drop-ins log somebody in on a console.
bool logs_in(const UnitRequest& unit) {
    const auto automatic = [](const std::string& text) {
        return text.find("--autologin") != std::string::npos;
    };
    return (unit.name == "debug-shell.service" && unit.state == UnitState::enabled) ||
           automatic(unit.contents.value_or("")) ||
           std::any_of(unit.drop_ins.begin(), unit.drop_ins.end(),
                       [&](const auto& drop_in) { return automatic(drop_in.second); });
}

/// Whether an overlay has such a file. One that cannot be visited is reported elsewhere, and may
/// have one.
bool has_file_letting_in(const OverlayRequest& overlay) {
    bool found = false;
    try {
        visit_overlay(overlay, {},
                      [&](const OverlayMember& member) { found = found || lets_in(member.path); });
    } catch (const Error&) {
        return true;
    }
    return found;
}

bool has_other_way(const Blueprint& blueprint) {
    const auto& units = blueprint.systemd.units;
    return !blueprint.firstboot.empty() || std::any_of(units.begin(), units.end(), logs_in) ||
           std::any_of(blueprint.files.begin(), blueprint.files.end(),
                       [](const FileRequest& file) { return lets_in(file.path); }) ||
           std::any_of(blueprint.overlays.begin(), blueprint.overlays.end(), has_file_letting_in);
}

/// What may add users at the installation: "package set edge-commit", "package cloud-init"; empty
/// if there is nothing.
std::string what_provisions(const Blueprint& blueprint) {
    for (const PackageRequest& package : blueprint.packages) {
        for (const std::string_view name : provisioning) {
            if (package.spec.starts_with(name) &&
                (package.spec.size() == name.size() || package.spec[name.size()] == '-')) {
                return std::string(name);
            }
        }
    }
    return blueprint.package_set.name.empty() ? "" : "FDO, Ignition or the installer";
}

}  // namespace

void check_login(const Blueprint& blueprint, Mistakes& mistakes,
                 std::vector<std::string>& warnings) {
    if (blueprint.accounts.login != LoginSource::image || has_user(blueprint) ||
        has_other_way(blueprint)) {
        return;
    }
    const SourceLocation& location =
        blueprint.users.empty() ? blueprint.ostree.location : blueprint.users.front().location;
    const char* const reason = blueprint.users.empty()
                                   ? "the image has no user with a password or key"
                                   : "no user has a password or key with which one could log in";
    const std::string provided = what_provisions(blueprint);
    if (provided.empty()) {
        mistakes.add(error_at(location, "nobody could log in: {}", reason).hinted(hint));
    } else {
        warnings.push_back(fmt::format(
            "{}: nobody can log in unless {} adds a user: {}. If so, say it: [accounts] "
            "login = \"provisioned\"",
            location.text(), provided, reason));
    }
}

}  // namespace edgegpu
