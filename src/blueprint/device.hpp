#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "blueprint/choices.hpp"
#include "support/source_location.hpp"

/// Configuration of devices in a blueprint.
namespace edgegpu {

/// `[customizations.timezone]`.
struct TimezoneRequest {
    /// "Europe/Berlin"; empty: that of the packages.
    std::string name;
    std::vector<std::string> ntp_servers;
    SourceLocation location;
};

/// `[customizations.locale]`.
struct LocaleRequest {
    /// The first is the system's: "en_US.UTF-8".
    std::vector<std::string> languages;
    /// Console keymap, "us"; empty: that of the packages.
    std::string keyboard;
    SourceLocation location;
};

/// `customizations.fips`.
struct FipsRequest {
    bool enabled = false;
    SourceLocation location;
};

/// Modules that modprobe loads before and after another one (`softdep` of modprobe.d(5)).
struct SoftDependency {
    std::vector<std::string> pre;
    std::vector<std::string> post;
};

/// `[modprobe]`.
struct ModprobeRequest {
    std::vector<std::string> blacklist;
    /// Module → options.
    std::map<std::string, std::string> options;
    /// Module → modules that are loaded with it.
    std::map<std::string, SoftDependency> softdeps;
    SourceLocation location;
};

/// `[[systemd.units]]`: a unit defined by the blueprint, or drop-ins and state of any unit.
struct UnitRequest {
    /// Full name, "gpu-warmup.service".
    std::string name;
    /// Text of the unit file; nothing for a unit of the image.
    std::optional<std::string> contents;
    /// File name ("10-limits.conf") → text.
    std::map<std::string, std::string> drop_ins;
    UnitState state = UnitState::preset;
    SourceLocation location;
};

/// `[systemd]`.
struct SystemdRequest {
    std::vector<UnitRequest> units;
    /// Apply the image's presets to every unit, like `systemctl preset-all`.
    bool preset_all = false;
    SourceLocation location;
};

/// `[customizations.services]`.
struct ServicesRequest {
    std::vector<std::string> enabled;
    std::vector<std::string> disabled;
    std::vector<std::string> masked;
    /// Unit → its location in the blueprint.
    std::map<std::string, SourceLocation> locations;
};

/// `[customizations.firewall]`, for firewalld.
struct FirewallRequest {
    /// "22:tcp", "8000-8010:udp", in the default zone.
    std::vector<std::string> ports;
    std::vector<std::string> enabled_services;
    std::vector<std::string> disabled_services;
    /// Zone → sources (addresses with or without prefix, MAC addresses, "ipset:NAME").
    std::map<std::string, std::vector<std::string>> zones;
    SourceLocation location;
};

/// `[[customizations.firstboot.scripts]]`: runs once, when the device boots for the first time.
struct FirstbootScript {
    std::string name;
    /// Begins with "#!".
    std::string contents;
    /// Units after and before which it runs.
    std::vector<std::string> after;
    std::vector<std::string> before;
    /// If this script fails, the next one still runs and the unit succeeds.
    bool ignore_failure = false;
    SourceLocation location;
};

/// `[[updates.windows]]`: when devices may restart into a new version.
struct UpdateWindow {
    /// In the order of the week, each once; empty: every day.
    std::vector<Weekday> days;
    /// "22:00", by the clock of UpdatesRequest::time_zone.
    std::string start;
    /// 15 to 10080; it may go on into the next days.
    std::uint32_t minutes = 0;
};

/// `[updates]`: how devices take new commits of their ref (customise/device/edgegpu-update).
struct UpdatesRequest {
    UpdatePolicy policy = UpdatePolicy::apply;
    /// Seconds from one look at the server to the next.
    std::uint32_t check_every = 3600;
    /// Seconds over which devices spread their downloads of a version.
    std::uint32_t spread = 0;
    /// Devices follow the plan of their ref (ref `edgegpu-rollout/REF`), not the ref itself.
    bool rollouts = false;
    /// Bytes: of what a device downloads by itself for one version; 0: no limit.
    std::uint64_t max_download = 0;
    /// Of the windows, "Europe/Berlin"; empty: the device's.
    std::string time_zone;
    SourceLocation time_zone_location;
    std::vector<UpdateWindow> windows;
    /// Base URL of a lock manager that speaks FleetLock; empty: none.
    std::string lock;
    std::string lock_group;
    /// Where devices POST their reports; empty: nowhere.
    std::string report_to;
    /// For the remote, the lock manager and reports; empty: none.
    std::string proxy;
    SourceLocation location;
};

}  // namespace edgegpu
