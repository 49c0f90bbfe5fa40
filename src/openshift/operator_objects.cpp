#include "openshift/operator_objects.hpp"

#include <algorithm>

#include "support/error.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

constexpr const char* nfd_namespace = "openshift-nfd";
constexpr const char* gpu_namespace = "nvidia-gpu-operator";
constexpr const char* nfd = "nfd";
constexpr const char* gpu_operator = "gpu-operator";

/// Labels of PCI devices by vendor, of the classes that the operator's own sample has: network
/// (0200), displays (03) and accelerators (12). NVIDIA's GPUs are "pci-10de.present".
constexpr const char* nfd_worker_config = R"(sources:
  pci:
    deviceClassWhitelist: ["0200", "03", "12"]
    deviceLabelFields: ["vendor"]
)";

json api_object(const char* api_version, const char* kind, const std::string& name,
                const std::string& name_space) {
    json object = {{"apiVersion", api_version}, {"kind", kind}, {"metadata", {{"name", name}}}};
    if (!name_space.empty()) {
        object["metadata"]["namespace"] = name_space;
    }
    return object;
}

/// Of pods that need the host: the workers of NFD, and nearly all that the GPU operator starts.
json privileged_namespace(const std::string& name) {
    json object = api_object("v1", "Namespace", name, "");
    object["metadata"]["labels"] = {{"openshift.io/cluster-monitoring", "true"},
                                    {"pod-security.kubernetes.io/enforce", "privileged"}};
    return object;
}

/// Both operators watch their own namespace only (their installModes).
json operator_group(const std::string& name_space) {
    json object = api_object("operators.coreos.com/v1", "OperatorGroup", name_space, name_space);
    object["spec"] = {{"targetNamespaces", json::array({name_space})}};
    return object;
}

json subscription(const std::string& package, const std::string& name_space,
                  const std::string& channel, const std::string& source, bool manual) {
    json object = api_object("operators.coreos.com/v1alpha1", "Subscription", package, name_space);
    object["spec"] = {{"name", package},
                      {"source", source},
                      {"sourceNamespace", "openshift-marketplace"},
                      {"installPlanApproval", manual ? "Manual" : "Automatic"}};
    if (!channel.empty()) {
        object["spec"]["channel"] = channel;
    }
    return object;
}

/// NFD's workers tolerate every taint NoSchedule by themselves; fields for more of them came with
/// OpenShift 4.20, and its API refuses them before.
json node_feature_discovery() {
    json object =
        api_object("nfd.openshift.io/v1", "NodeFeatureDiscovery", "nfd-instance", nfd_namespace);
    object["spec"] = {{"operand", {{"imagePullPolicy", "IfNotPresent"}}},
                      {"workerConfig", {{"configData", nfd_worker_config}}}};
    return object;
}

/// Those that the operator has by itself, which a list of others replaces, and these.
json tolerations_of(const std::vector<json>& taints) {
    json tolerations = json::array(
        {{{"key", "nvidia.com/gpu"}, {"operator", "Exists"}, {"effect", "NoSchedule"}}});
    for (const json& taint : taints) {
        json toleration = {{"operator", "Exists"}};
        for (const char* key : {"key", "effect"}) {
            if (taint.contains(key)) {
                toleration[key] = taint[key];
            }
        }
        if (std::ranges::find(tolerations, toleration) == tolerations.end()) {
            tolerations.push_back(std::move(toleration));
        }
    }
    return tolerations;
}

/// The name is that of NVIDIA's documentation: there can be one only, and an existing one is
/// changed. The fields that have no value of ours are required by the definition.
json cluster_policy(const OperatorsRequest& request, const GpuImageFacts& image,
                    const std::vector<json>& taints) {
    json object = api_object("nvidia.com/v1", "ClusterPolicy", "gpu-cluster-policy", "");
    object["spec"] = {{"operator", {{"defaultRuntime", "crio"}}},
                      {"daemonsets", {{"tolerations", tolerations_of(taints)}}},
                      {"driver", {{"enabled", false}}},
                      {"toolkit", {{"enabled", !image.runtime}}},
                      {"devicePlugin", {{"enabled", true}}},
                      {"dcgm", {{"enabled", true}}},
                      {"dcgmExporter", {{"enabled", true}}},
                      {"gfd", {{"enabled", true}}},
                      {"nodeStatusExporter", {{"enabled", true}}}};
    if (image.runtime) {
        // The image's runtime, which is CRI-O's default, gives GPUs to containers, and with CDI the
        // operator would expect what only its own toolkit sets up beside it.
        object["spec"]["cdi"] = {{"enabled", false}};
    }
    if (!request.mig_strategy.empty()) {
        // The image divides the GPUs; the operator's manager would undo it by its default profile.
        object["spec"]["mig"] = {{"strategy", request.mig_strategy}};
        object["spec"]["migManager"] = {{"enabled", false}};
    }
    return object;
}

}  // namespace

GpuImageFacts gpu_image_facts(const CommitView& commit) {
    const auto has = [&](const char* path) { return commit.find(path).has_value(); };
    // A parent may have brought the driver, of which the metadata of the layer say nothing.
    return {!commit.info().driver.empty() || has("/usr/bin/nvidia-smi"),
            has("/usr/bin/crio") && has("/usr/bin/nvidia-container-runtime")};
}

NamedObjects operator_subscriptions(const OperatorsRequest& request) {
    NamedObjects objects;
    const auto add = [&](const std::string& prefix, const char* name_space, const char* package,
                         const std::string& channel, const std::string& source) {
        objects.emplace_back(prefix + "-namespace.yaml", privileged_namespace(name_space));
        objects.emplace_back(prefix + "-group.yaml", operator_group(name_space));
        objects.emplace_back(
            prefix + "-subscription.yaml",
            subscription(package, name_space, channel, source, request.manual_approval));
    };
    if (!request.has(nfd)) {
        add(nfd, nfd_namespace, nfd, request.nfd_channel, request.nfd_source);
    }
    if (!request.has(gpu_operator)) {
        add(gpu_operator, gpu_namespace, "gpu-operator-certified", request.gpu_channel,
            request.gpu_source);
    }
    return objects;
}

NamedObjects operator_operands(const OperatorsRequest& request, const GpuImageFacts& image,
                               const std::vector<json>& taints) {
    if (!image.driver) {
        throw error_at(request.location, "the image has no NVIDIA driver")
            .hinted(
                "the GPU operator would wait for one on each node, as it is told to bring none: "
                "[nvidia] in the blueprint, or no [openshift.operators]");
    }
    NamedObjects objects;
    if (!request.has(nfd)) {
        objects.emplace_back("node-feature-discovery.yaml", node_feature_discovery());
    }
    objects.emplace_back("cluster-policy.yaml", cluster_policy(request, image, taints));
    return objects;
}

}  // namespace edgegpu
