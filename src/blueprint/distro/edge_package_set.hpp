#pragma once

#include <optional>
#include <string>

#include "blueprint/blueprint.hpp"
#include "blueprint/distro/distro.hpp"
#include "blueprint/toml/toml_reader.hpp"

namespace edgegpu {

/// The packages that image builder adds to every edge commit of this distribution, version and
/// architecture; nothing if it does not support them. The location is left empty.
[[nodiscard]] std::optional<PackageSet> find_package_set(const DistroName& distro,
                                                         const std::string& architecture);

/// Sets the blueprint's package set: `package_set` of `[image]`, or by default that of the
/// distribution. Distro, architecture and the blueprint's own packages must have been read. Throws
/// ErrorKind::usage for a set that the distribution does not have.
void read_package_set(const TableReader& root, Blueprint& blueprint);

/// "edge-commit of rhel-9.4", or "none".
[[nodiscard]] std::string describe_package_set(const PackageSet& set);

}  // namespace edgegpu
