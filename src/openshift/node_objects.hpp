#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "blueprint/openshift.hpp"

namespace edgegpu {

/// The objects that bring an image to the nodes of a cluster.
struct NodeObjects {
    /// Name of the file → object, in the order in which they are applied.
    std::vector<std::pair<std::string, nlohmann::json>> files;
    /// What is accepted but may not be meant.
    std::vector<std::string> warnings;
};

/// Pool (unless the installer makes it), machine configuration, on-cluster build and machine sets
/// of `request`. `image`, of `architecture`, has a digest. Throws as gpu_machine_set.
[[nodiscard]] NodeObjects node_objects(const OpenshiftRequest& request, const std::string& image,
                                       const std::string& architecture,
                                       const std::vector<std::string>& kernel_arguments);

/// Writes them as YAML to a new directory, with the kustomization that `oc apply -k` takes. The
/// directory appears when it is complete. Throws ErrorKind::usage if there is one already.
void write_node_objects(const NodeObjects& objects, const std::filesystem::path& directory);

}  // namespace edgegpu
