#pragma once

#include <string_view>

#include "blueprint/blueprint.hpp"
#include "blueprint/toml/mistakes.hpp"

namespace edgegpu {

/// Whether nodes of OpenShift get the file at this path from the cluster: the files and units of
/// the machine config operator's templates (openshift/machine-config-operator, templates/). They
/// replace what an image has there.
[[nodiscard]] bool is_file_of_cluster(std::string_view path);

/// Adds a mistake for a file of the image at `location` that the cluster would replace.
void check_node_file(std::string_view path, const SourceLocation& location, Mistakes& mistakes);

/// Checks of a blueprint with `[openshift]` but for its overlays: files that the cluster would
/// replace, and what would upgrade a node beside the cluster.
void check_node(const Blueprint& blueprint, Mistakes& mistakes);

}  // namespace edgegpu
