#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "blueprint/openshift.hpp"
#include "repository/commit_view.hpp"

/// Objects of the operators that make GPUs of nodes with the driver in their image available to
/// pods: Node Feature Discovery (openshift/cluster-nfd-operator) and NVIDIA's GPU operator
/// (NVIDIA/gpu-operator), which the Operator Lifecycle Manager installs.
namespace edgegpu {

/// Name of the file → object, in the order in which they are applied.
using NamedObjects = std::vector<std::pair<std::string, nlohmann::json>>;

/// What of an image decides what the GPU operator has to bring.
struct GpuImageFacts {
    /// NVIDIA's driver is in the image.
    bool driver = false;
    /// NVIDIA's container runtime is in the image, and then CRI-O's default (every build with both
    /// of them makes it so).
    bool runtime = false;
};
[[nodiscard]] GpuImageFacts gpu_image_facts(const CommitView& commit);

/// Namespaces, operator groups and subscriptions of the operators that the cluster has not.
[[nodiscard]] NamedObjects operator_subscriptions(const OperatorsRequest& request);

/// What the operators are to do: the NodeFeatureDiscovery, unless the cluster has NFD, and the
/// ClusterPolicy, without the driver, and without the toolkit if the image has one. The API takes
/// them only when the operators have been installed, which define their kinds. `taints`: those of
/// the GPU nodes, which the operands tolerate. Throws ErrorKind::usage for an image without driver.
[[nodiscard]] NamedObjects operator_operands(const OperatorsRequest& request,
                                             const GpuImageFacts& image,
                                             const std::vector<nlohmann::json>& taints);

}  // namespace edgegpu
