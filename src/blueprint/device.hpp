#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "blueprint/choices.hpp"
#include "support/source_location.hpp"

/// What a blueprint says of the configuration of devices.
namespace edgegpu {

/// Modules that modprobe loads before and after another (`softdep` of modprobe.d(5)).
struct SoftDependency {
    std::vector<std::string> pre;
    std::vector<std::string> post;
};

/// `[modprobe]`.
struct ModprobeRequest {
    std::vector<std::string> blacklist;
    /// module → options
    std::map<std::string, std::string> options;
    /// module → what it is loaded with
    std::map<std::string, SoftDependency> softdeps;
    SourceLocation location;
};

/// `[[systemd.units]]`: a unit of the blueprint's own, drop-ins for one, or its state.
struct UnitRequest {
    /// Full name, "gpu-warmup.service".
    std::string name;
    /// Text of the unit file; nothing where the image has the unit already.
    std::optional<std::string> contents;
    /// File name ("10-limits.conf") → text.
    std::map<std::string, std::string> drop_ins;
    UnitState state = UnitState::preset;
    SourceLocation location;
};

/// `[systemd]`.
struct SystemdRequest {
    std::vector<UnitRequest> units;
    /// The image's presets decide about every unit, as `systemctl preset-all` does.
    bool preset_all = false;
    SourceLocation location;
};

/// `[customizations.services]`.
struct ServicesRequest {
    std::vector<std::string> enabled;
    std::vector<std::string> disabled;
    std::vector<std::string> masked;
    /// Where the blueprint names each of them.
    std::map<std::string, SourceLocation> locations;
};

/// `[customizations.firewall]`, for firewalld.
struct FirewallRequest {
    /// "22:tcp", "8000-8010:udp", of the default zone
    std::vector<std::string> ports;
    std::vector<std::string> enabled_services;
    std::vector<std::string> disabled_services;
    /// zone → sources (addresses with or without prefix)
    std::map<std::string, std::vector<std::string>> zones;
    SourceLocation location;
};

/// `[[customizations.firstboot.scripts]]`: runs once, when the device boots for the first time.
struct FirstbootScript {
    std::string name;
    /// Begins with "#!".
    std::string contents;
    /// Units that it runs after, and before.
    std::vector<std::string> after;
    std::vector<std::string> before;
    /// The next script runs, and the unit succeeds, even if this one fails.
    bool ignore_failure = false;
    SourceLocation location;
};

}  // namespace edgegpu
