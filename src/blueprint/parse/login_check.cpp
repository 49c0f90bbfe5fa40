#include "blueprint/parse/login_check.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "blueprint/parse/login_ways.hpp"
#include "blueprint/sources/overlay_source.hpp"
#include "blueprint/sources/source_directory.hpp"
#include "support/error.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

namespace {

constexpr const char* hint =
    "add a [[customizations.user]] with a key or password; or say that users are added when a "
    "device is installed: [accounts] login = \"provisioned\", or that nobody is to log in: login = "
    "\"none\"";

/// Packages that add users, or keys of users, when a device is installed or boots for the first
/// time, without a file of the image that says which. SSSD and programs that join a directory need
/// one.
constexpr std::array<std::string_view, 5> provisioning{"afterburn", "cloud-init", "fdo-client",
                                                       "flightctl-agent", "ignition"};

bool sshd_is_off(const Blueprint& blueprint) {
    const auto is_sshd = [](const std::string& unit) {
        return unit == "sshd" || unit == "sshd.service" || unit == "ssh.service";
    };
    const auto in = [&](const std::vector<std::string>& units) {
        return std::ranges::any_of(units, is_sshd);
    };
    return in(blueprint.services.disabled) || in(blueprint.services.masked) ||
           std::ranges::any_of(blueprint.systemd.units, [&](const UnitRequest& unit) {
               return is_sshd(unit.name) &&
                      (unit.state == UnitState::disabled || unit.state == UnitState::masked);
           });
}

bool has_user(const Blueprint& blueprint, bool keys_count) {
    return std::ranges::any_of(blueprint.users, [&](const UserRequest& user) {
        const bool credential =
            is_usable_password(user.password.value_or("*")) || (keys_count && !user.key.empty());
        return credential && !refuses_login(user.shell);
    });
}

void see_programs(const Blueprint& blueprint, LoginWays& ways) {
    for (const UnitRequest& unit : blueprint.systemd.units) {
        if (unit.name == "debug-shell.service" && unit.state == UnitState::enabled) {
            ways.found();
        }
        ways.see_program(unit.contents.value_or(""));
        for (const auto& [name, text] : unit.drop_ins) {
            ways.see_program(text);
        }
    }
    for (const FirstbootScript& script : blueprint.firstboot) {
        ways.see_program(script.contents);
    }
}

void see_files(const Blueprint& blueprint, LoginWays& ways) {
    for (const FileRequest& file : blueprint.files) {
        ways.see_file(file.path,
                      [&] { return file.source.empty() ? file.data : source_head(file.source); });
    }
    for (const OverlayRequest& overlay : blueprint.overlays) {
        visit_overlay(overlay, {}, [&](const OverlayMember& member) {
            if (member.head) {
                ways.see_file(member.path, member.head);
            }
        });
    }
}

bool has_other_way(const Blueprint& blueprint, bool keys_count) {
    LoginWays ways(keys_count, !blueprint.users.empty());
    see_programs(blueprint, ways);
    try {
        see_files(blueprint, ways);
    } catch (const Error&) {
        return true;  // A file that cannot be read is reported elsewhere, and may be one.
    }
    return ways.any();
}

/// The package that may add users at the installation; empty if there is none.
std::string_view what_provisions(const Blueprint& blueprint) {
    for (const PackageRequest& package : blueprint.packages) {
        for (const std::string_view name : provisioning) {
            if (package.spec.starts_with(name) &&
                (package.spec.size() == name.size() || package.spec[name.size()] == '-')) {
                return name;
            }
        }
    }
    return {};
}

}  // namespace

void check_login(const Blueprint& blueprint, Mistakes& mistakes,
                 std::vector<std::string>& warnings) {
    const bool keys_count = !sshd_is_off(blueprint);
    if (blueprint.parent) {
        return;  // Its users are those of the parent, too.
    }
    if (blueprint.accounts.login != LoginSource::image || has_user(blueprint, keys_count) ||
        has_other_way(blueprint, keys_count)) {
        return;
    }
    const SourceLocation& location =
        blueprint.users.empty() ? blueprint.ostree.location : blueprint.users.front().location;
    const char* const reason = blueprint.users.empty()
                                   ? "the image has no user with a password or key"
                                   : "no user has a password or key with which one could log in";
    const std::string_view provided = what_provisions(blueprint);
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
