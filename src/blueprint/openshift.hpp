#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/source_location.hpp"

/// What `edgegpu openshift` takes from a blueprint.
namespace edgegpu {

/// `[[openshift.machine_sets]]`: machines with GPUs, made as an existing set makes its machines.
struct MachineSetRequest {
    /// The existing set, as `oc get machineset NAME -o yaml` prints it: absolute path on the build
    /// machine.
    std::filesystem::path source;
    /// Name of the new set.
    std::string name;
    /// Instance type of AWS, machine type of Google Cloud, size of Azure.
    std::string instance_type;
    /// vSphere: the template with the GPU.
    std::string machine_template;
    /// Google Cloud: accelerator attached to a general-purpose machine ("nvidia-tesla-t4"), and how
    /// many.
    std::string accelerator;
    std::uint32_t accelerators = 1;
    std::uint32_t replicas = 1;
    SourceLocation location;
};

/// `[openshift.on_cluster_build]`: the cluster builds the nodes' image from ours, with its machine
/// configuration in it.
struct OnClusterBuildRequest {
    /// Where the result is pushed: "quay.example.com/edge/rendered:latest".
    std::string push_to;
    /// Names of secrets in the namespace openshift-machine-config-operator.
    std::string push_secret;
    /// Empty: the cluster's own pull secret.
    std::string pull_secret;
    SourceLocation location;
};

/// `[openshift.operators]`: what runs on nodes with GPUs, from the cluster's catalogues.
struct OperatorsRequest {
    /// Of the cluster already, and not installed: "nfd", "gpu-operator"; each once.
    std::vector<std::string> installed;
    /// Channels of the operators' packages; empty: the catalogue's default.
    std::string gpu_channel;
    std::string nfd_channel;
    /// Catalogues, in the namespace openshift-marketplace.
    std::string gpu_source = "certified-operators";
    std::string nfd_source = "redhat-operators";
    /// Whether somebody has to approve each version before it is installed.
    bool manual_approval = false;
    /// `[nvidia.mig] strategy`; empty: no GPU is divided.
    std::string mig_strategy;
    SourceLocation location;

    /// Whether the cluster has the operator already.
    [[nodiscard]] bool has(std::string_view name) const {
        return std::ranges::find(installed, name) != installed.end();
    }
};

/// `[openshift]`.
struct OpenshiftRequest {
    /// MachineConfigPool whose nodes run the image.
    std::string pool;
    /// Repository that has the image, without tag and digest: "quay.example.com/edge/node".
    std::string image;
    /// Whether the registry must have a certificate that is trusted.
    bool tls_verify = true;
    std::optional<OnClusterBuildRequest> on_cluster_build;
    std::vector<MachineSetRequest> machine_sets;
    std::optional<OperatorsRequest> operators;
    SourceLocation location;
};

}  // namespace edgegpu
