#pragma once

#include <optional>
#include <string>

#include "blueprint/blueprint.hpp"
#include "blueprint/distro/distro.hpp"
#include "blueprint/toml/toml_reader.hpp"

namespace edgegpu {

/// What image builder gives every edge commit of this distribution, version and architecture;
/// nothing where it knows none. The location is left empty.
[[nodiscard]] std::optional<PackageSet> find_package_set(const DistroName& distro,
                                                         const std::string& architecture);

/// `[image] package_set`, or what the distribution has without it. Needs distro, architecture and
/// the blueprint's own packages, already read. Throws ErrorKind::usage for a set that the
/// distribution does not have.
void read_image_table(const TableReader& root, Blueprint& blueprint);

/// "edge-commit of rhel-9.4"; "none" where there is no set.
[[nodiscard]] std::string describe_package_set(const Blueprint& blueprint);

}  // namespace edgegpu
