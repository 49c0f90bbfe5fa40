#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "microshift/version.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

/// Throws ErrorKind::usage where devices with the parent's MicroShift would refuse to start that of
/// the new image: MicroShift takes the data of a version that is at most two minor versions older,
/// and of none that is newer (checkVersionCompatibility in pkg/admin/prerun). `location` is the
/// blueprint's.
void check_microshift_upgrade(const SourceLocation& location, MicroshiftVersion parent,
                              MicroshiftVersion image);

/// Why devices with MicroShift `before` would refuse to start `after`, by the same rule; nothing if
/// they start it.
[[nodiscard]] std::optional<std::string> microshift_refusal(MicroshiftVersion before,
                                                            MicroshiftVersion after);

/// A value that MicroShift cannot change once it has started, and that an upgrade would change.
struct ImmutableChange {
    /// JSON pointer, "/dns/baseDomain"
    std::string pointer;
    /// As messages show them; with "(MicroShift's default)" where no file has a value.
    std::string before;
    std::string now;
};

/// Compares two effective configurations (effective_config.hpp): `dns.baseDomain`,
/// `network.clusterNetwork`, `network.serviceNetwork`, `node.hostnameOverride`. A name that is set
/// where none was set is no change, since it may be that of the device.
[[nodiscard]] std::vector<ImmutableChange> immutable_changes(const nlohmann::json& parent,
                                                             const nlohmann::json& image);

/// Whether a configuration has feature gates that forbid upgrades to another minor version: with
/// `featureSet = "CustomNoUpgrade"`, those that are not listed as exempt in `image`.
[[nodiscard]] bool forbids_upgrades(const nlohmann::json& parent, const nlohmann::json& image);

}  // namespace edgegpu
