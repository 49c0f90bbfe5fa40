#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "blueprint/openshift.hpp"
#include "openshift/operator_objects.hpp"

namespace edgegpu {

/// The objects that bring an image to the nodes of a cluster.
struct NodeObjects {
    NamedObjects files;
    /// Of kinds that only the operators of `files` define, once they have been installed: for a
    /// second `oc apply -k`, of the directory `operands_directory`.
    NamedObjects operands;
    /// What is accepted but may not be meant.
    std::vector<std::string> warnings;
};

inline constexpr const char* operands_directory = "operands";

/// Pool (unless the installer makes it), machine configuration, on-cluster build, machine sets and
/// operators of `request`. `image`, of `architecture`, has a digest, and `facts` are those of it.
/// Throws as gpu_machine_set and operator_operands.
[[nodiscard]] NodeObjects node_objects(const OpenshiftRequest& request, const std::string& image,
                                       const std::string& architecture,
                                       const std::vector<std::string>& kernel_arguments,
                                       const GpuImageFacts& facts = {.driver = true});

/// Writes them as YAML to a new directory, with the kustomization that `oc apply -k` takes, and the
/// operands to a directory in it, which has a kustomization of its own. The directory appears when
/// it is complete. Throws ErrorKind::usage if there is one already.
void write_node_objects(const NodeObjects& objects, const std::filesystem::path& directory);

}  // namespace edgegpu
