#include "blueprint/parse/contradictions.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "blueprint/mig_layouts.hpp"
#include "gpu/mig.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

/// Of a GPU without MIG, gpu-health asks no mode.
bool has_mig(std::string_view device) {
    std::uint16_t number = 0;
    const std::string_view digits = device.substr(device.find(':') + 1);
    std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
    const MigSupport support = mig_of(number);
    return !support.known || !support.profiles.empty();
}

/// The GPUs that a requirement is about and the image's entry for each, if it has one; "" stands
/// for whatever GPU there is.
std::vector<std::string> devices_with_mig(const Blueprint& blueprint) {
    std::vector<std::string> devices = blueprint.gpu_health->devices;
    if (devices.empty()) {
        devices = blueprint.nvidia->devices;
    }
    std::erase_if(devices, [](const std::string& device) { return !has_mig(device); });
    if (blueprint.nvidia->devices.empty() && devices.empty()) {
        devices.emplace_back();
    }
    return devices;
}

/// gpu-health looks at the mode at each boot, when edgegpu-mig.service has set it.
void check_mig_mode(const Blueprint& blueprint, Mistakes& mistakes,
                    std::vector<std::string>& warnings) {
    if (!blueprint.gpu_health || !blueprint.gpu_health->require.mig || !blueprint.nvidia) {
        return;
    }
    const bool on = *blueprint.gpu_health->require.mig;
    const SourceLocation& at = blueprint.gpu_health->location;
    for (const std::string& device : devices_with_mig(blueprint)) {
        const MigLayout* layout = layout_of(blueprint.nvidia->mig, device);
        const std::string gpu = device.empty() ? "GPUs" : device;
        if (layout == nullptr && on) {
            warnings.push_back(fmt::format(
                "{}: require.mig: nothing in the image switches MIG mode of {} on: on a device "
                "where nobody has, gpu-health finds fault with it at each boot. [nvidia.mig] "
                "switches it",
                at.text(), gpu));
        } else if (layout != nullptr && layout->profiles.empty() == on) {
            mistakes.add(
                error_at(at,
                         "require.mig = {}, but [nvidia.mig] switches MIG mode of {} {} ({}): "
                         "gpu-health would find fault with it at each boot",
                         on, gpu, on ? "off" : "on", layout->location.text())
                    .hinted("change one of the two, or leave out require.mig: gpu-health compares "
                            "the instances with [nvidia.mig] in any case"));
        }
    }
}

/// A unit, and a key that has no effect without it.
struct NeededUnit {
    std::string_view unit;
    std::string_view key;
    bool asked = false;
    std::string_view effect;
};

std::array<NeededUnit, 7> needed_units(const Blueprint& blueprint) {
    const bool servers = !blueprint.timezone.ntp_servers.empty();
    const auto& firewall = blueprint.firewall;
    const bool rules =
        firewall && !(firewall->ports.empty() && firewall->enabled_services.empty() &&
                      firewall->disabled_services.empty() && firewall->zones.empty());
    constexpr std::string_view no_time = "nothing asks these servers for the time";
    return {{
        {"chronyd.service", "customizations.timezone.ntpservers", servers, no_time},
        {"chrony.service", "customizations.timezone.ntpservers", servers, no_time},
        {"firewalld.service", "customizations.firewall", rules, "none of its rules is set"},
        {"microshift.service", "microshift.bundles", !blueprint.microshift.bundles.empty(),
         "nothing applies them"},
        {"edgegpu-firstboot.service", "customizations.firstboot", !blueprint.firstboot.empty(),
         "none of the scripts runs"},
        {"edgegpu-mig.service", "nvidia.mig", blueprint.nvidia && !blueprint.nvidia->mig.empty(),
         "no instance is made"},
        {"edgegpu-accounts.service", "customizations.user", !blueprint.users.empty(),
         "devices that are upgraded do not get them"},
    }};
}

/// Of a unit that is masked, or disabled.
void check_stopped_unit(const Blueprint& blueprint, const std::string& name, bool masked,
                        const SourceLocation& at, Mistakes& mistakes,
                        std::vector<std::string>& warnings) {
    const std::string unit = name.find('.') == std::string::npos ? name + ".service" : name;
    const auto needed = needed_units(blueprint);
    const auto found = std::ranges::find_if(
        needed, [&](const NeededUnit& each) { return each.asked && each.unit == unit; });
    if (found != needed.end() && masked) {
        mistakes.add(
            error_at(at, "{} is masked, but {} is set: {}", unit, found->key, found->effect)
                .hinted("leave out one of the two"));
    } else if (found != needed.end()) {
        warnings.push_back(
            fmt::format("{}: {} is disabled, but {} is set: {}, unless something else starts it",
                        at.text(), unit, found->key, found->effect));
    } else if (masked && unit.starts_with("edgegpu-")) {
        warnings.push_back(
            fmt::format("{}: {} is edgegpu's own: masked, it leaves out something "
                        "that devices need or this blueprint asks for",
                        at.text(), unit));
    }
}

void check_stopped_units(const Blueprint& blueprint, Mistakes& mistakes,
                         std::vector<std::string>& warnings) {
    const ServicesRequest& services = blueprint.services;
    for (const auto* const names : {&services.disabled, &services.masked}) {
        for (const std::string& name : *names) {
            const auto place = services.locations.find(name);
            check_stopped_unit(
                blueprint, name, names == &services.masked,
                place == services.locations.end() ? blueprint.ostree.location : place->second,
                mistakes, warnings);
        }
    }
    for (const UnitRequest& unit : blueprint.systemd.units) {
        const bool masked = unit.state == UnitState::masked;
        if (masked || unit.state == UnitState::disabled) {
            check_stopped_unit(blueprint, unit.name, masked, unit.location, mistakes, warnings);
        }
    }
}

}  // namespace

void check_contradictions(const Blueprint& blueprint, Mistakes& mistakes,
                          std::vector<std::string>& warnings) {
    check_mig_mode(blueprint, mistakes, warnings);
    check_stopped_units(blueprint, mistakes, warnings);
}

}  // namespace edgegpu
