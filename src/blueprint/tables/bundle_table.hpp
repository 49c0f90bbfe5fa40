#pragma once

#include "blueprint/microshift.hpp"
#include "blueprint/toml/toml_reader.hpp"
#include "blueprint/toml/variables.hpp"

namespace edgegpu {

/// Reads what a table of `microshift.bundles` changes of a bundle; its keys are those of a
/// kustomization. Mistakes are noted.
void read_bundle_changes(const TableReader& table, const ParseScope& scope, BundleRequest& request);

}  // namespace edgegpu
