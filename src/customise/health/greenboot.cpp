#include "customise/health/greenboot.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "customise/health/boot_mount.hpp"
#include "customise/health/journal.hpp"
#include "customise/units/units.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/text/number.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view own_units = "/usr/lib/systemd/system/";

using Version = std::tuple<unsigned, unsigned, unsigned>;

/// "0.15.8" → 0, 15, 8; what is missing is 0.
Version numbers_of(std::string_view text) {
    std::array<unsigned, 3> numbers{};
    const std::vector<std::string_view> parts = split(text, '.');
    for (std::size_t i = 0; i < std::min(parts.size(), numbers.size()); ++i) {
        numbers.at(i) = leading_number<unsigned>(parts[i]);
    }
    return {numbers[0], numbers[1], numbers[2]};
}

bool has(const Tree& tree, std::string_view path) {
    return find_entry(tree, path) != nullptr;
}

bool has_greenboot_unit(const Tree& tree, std::string_view name) {
    return has(tree, fmt::format("{}{}", own_units, name));
}

bool is_elf(const Tree& tree, std::string_view path) {
    const Entry* const entry = find_entry(tree, path);
    return entry != nullptr && entry->type == EntryType::file &&
           read_entry(tree, path).starts_with("\177ELF");
}

/// A unit of greenboot, and whether a bad upgrade stays without it.
struct NamedUnit {
    std::string_view name;
    bool essential;
};

constexpr std::array bash_units{
    NamedUnit{"greenboot-grub2-set-counter.service", true},
    NamedUnit{"greenboot-grub2-set-success.service", true},
    NamedUnit{"greenboot-healthcheck.service", true},
    NamedUnit{"greenboot-rpm-ostree-grub2-check-fallback.service", true},
    NamedUnit{"greenboot-status.service", false},
    NamedUnit{"greenboot-task-runner.service", false},
    NamedUnit{"redboot-auto-reboot.service", true},
    NamedUnit{"redboot-task-runner.service", false}};
constexpr std::array rust_units{NamedUnit{"greenboot-healthcheck.service", true},
                                NamedUnit{"greenboot-set-rollback-trigger.service", true},
                                NamedUnit{"greenboot-success.target", false}};

std::vector<NamedUnit> units_of(GreenbootKind kind) {
    switch (kind) {
        case GreenbootKind::bash:
            return {bash_units.begin(), bash_units.end()};
        case GreenbootKind::rust:
            return {rust_units.begin(), rust_units.end()};
        case GreenbootKind::none:
            break;
    }
    return {};
}

/// The location at which the blueprint says this of a unit, or nothing.
std::optional<SourceLocation> place_of(const std::vector<std::string>& names,
                                       const ServicesRequest& services,
                                       const SourceLocation& otherwise, std::string_view unit) {
    const auto found =
        std::ranges::find_if(names, [&](const auto& name) { return full_unit_name(name) == unit; });
    if (found == names.end()) {
        return std::nullopt;
    }
    const auto place = services.locations.find(*found);
    return place == services.locations.end() ? otherwise : place->second;
}

/// Nothing: the blueprint does not mention it. Otherwise whether it stays enabled, and where.
std::optional<std::pair<bool, SourceLocation>> decision_on(const SystemdRequest& systemd,
                                                           const ServicesRequest& services,
                                                           const SourceLocation& otherwise,
                                                           std::string_view unit) {
    for (const auto* const names : {&services.disabled, &services.masked}) {
        if (const auto place = place_of(*names, services, otherwise, unit)) {
            return std::pair(false, *place);
        }
    }
    if (const auto place = place_of(services.enabled, services, otherwise, unit)) {
        return std::pair(true, *place);
    }
    for (const UnitRequest& request : systemd.units) {
        if (request.name == unit && request.state != UnitState::preset) {
            return std::pair(request.state == UnitState::enabled, request.location);
        }
    }
    return std::nullopt;
}

/// The tables of a blueprint that make the journal persistent.
std::string hint_of_journal(const Tree& tree) {
    const std::string_view directory =
        persistent_journal_path.substr(0, persistent_journal_path.rfind('/'));
    return fmt::format(
        "{}[[customizations.files]] with path = \"{}\" and data = "
        "\"[Journal]\\nStorage=persistent\\n\"",
        has(tree, directory)
            ? ""
            : fmt::format("[[customizations.directories]] with path = \"{}\", and ", directory),
        persistent_journal_path);
}

}  // namespace

Greenboot greenboot_of(const Tree& tree) {
    Greenboot greenboot;
    const auto package = std::ranges::find(tree.packages, "greenboot", &Nevra::name);
    if (package != tree.packages.end()) {
        greenboot.version = package->version;
        greenboot.kind = numbers_of(package->version) >= Version(0, 16, 0) ? GreenbootKind::rust
                                                                           : GreenbootKind::bash;
    } else if (has_greenboot_unit(tree, "greenboot-set-rollback-trigger.service") ||
               is_elf(tree, "/usr/libexec/greenboot/greenboot")) {
        greenboot.kind = GreenbootKind::rust;
    } else if (has_greenboot_unit(tree, "greenboot-healthcheck.service")) {
        greenboot.kind = GreenbootKind::bash;
    }
    return greenboot;
}

ServicesRequest with_greenboot_units(const SystemdRequest& systemd, ServicesRequest services,
                                     const SourceLocation& health, const Tree& tree) {
    const Greenboot greenboot = greenboot_of(tree);
    std::vector<std::string> more;
    for (const NamedUnit& unit : units_of(greenboot.kind)) {
        const auto decided = decision_on(systemd, services, health, unit.name);
        if (decided && !decided->first && unit.essential) {
            throw error_at(decided->second,
                           "[health.gpu] needs {}: without it a bad upgrade is not taken back",
                           unit.name)
                .hinted("leave its state to edgegpu, which enables greenboot's units");
        }
        if (!decided && has_greenboot_unit(tree, unit.name)) {
            more.emplace_back(unit.name);
        }
    }
    services.enabled.insert(services.enabled.end(), more.begin(), more.end());
    return services;
}

std::vector<GreenbootFault> faults_of_greenboot(const Greenboot& greenboot, const Tree& tree) {
    std::vector<GreenbootFault> faults;
    const bool bootc = has(tree, "/usr/bin/bootc");
    if (greenboot.kind == GreenbootKind::rust) {
        if (!bootc) {
            faults.push_back({true,
                              fmt::format("greenboot {} asks the program bootc which deployment to "
                                          "go back to, and the image has none: a bad upgrade stays",
                                          greenboot.version),
                              "add the package bootc, or greenboot in a version before 0.16"});
        }
        if (!has_persistent_journal(tree)) {
            faults.push_back(
                {false,
                 "greenboot 0.16 reads in the journal of the boot before that it has gone back, "
                 "and this image's journal does not survive a restart",
                 hint_of_journal(tree)});
        }
        // That it fails where /boot is no mount point is no fault of an image: a device of ostree
        // has one there, a file system or the bind mount of ostree-prepare-root. And what it
        // remounts is so in the namespace of its unit alone (PrivateMounts=).
        return faults;
    }
    // That 0.14.0 to 0.15.7 run the rest of a directory after a required check failed is no fault
    // here: the boot is red all the same, and takes as long as a good one, in which all of them
    // run. What would never end in it is a warning of its own (check_scripts.hpp).
    const Version version = numbers_of(greenboot.version);
    const std::string boot = read_only_boot_mount(tree);
    if (!greenboot.version.empty() && version < Version(0, 15, 5) && !boot.empty()) {
        // grub2-editenv fails, with it greenboot-grub2-set-counter.service, and with that
        // ostree-finalize-staged.service, which requires it.
        faults.push_back({true,
                          fmt::format("greenboot {} does not remount /boot, which {} mounts "
                                      "read-only: it cannot write GRUB's variables, and devices "
                                      "never deploy an upgrade that was staged",
                                      greenboot.version, boot),
                          "mount /boot read-write, or take greenboot 0.15.8"});
    }
    if (version >= Version(0, 15, 5) && version <= Version(0, 15, 7) && bootc) {
        faults.push_back({true,
                          fmt::format("greenboot {} takes an image with the program bootc for one "
                                      "of bootc, and never goes back to a commit of ostree",
                                      greenboot.version),
                          "leave out the package bootc, or take greenboot 0.15.8"});
    }
    if (version >= Version(0, 15, 5) && version <= Version(0, 15, 6)) {
        faults.push_back({false,
                          fmt::format("greenboot {} keeps its counter after a good upgrade: any "
                                      "required check that fails later restarts the device, and "
                                      "may start the commit before",
                                      greenboot.version),
                          "take greenboot 0.15.8"});
    }
    return faults;
}

void leave_boot_success(const Context& ctx, Tree& tree) {
    const std::string timer = "/usr/lib/systemd/user/grub-boot-success.timer";
    const std::string drop_in = timer + ".d/10-disable-if-greenboot.conf";
    if (greenboot_of(tree).kind == GreenbootKind::none || find_entry(tree, timer) == nullptr ||
        find_entry(tree, drop_in) != nullptr) {
        return;
    }
    const std::string text = fmt::format(
        "# A boot is a success when greenboot says so, not when somebody has been logged in.\n"
        "[Unit]\nConditionPathExists=!{}greenboot-healthcheck.service\n",
        own_units);
    put_entry(tree, drop_in, make_file_entry(ctx, text, 0644));
}

}  // namespace edgegpu
