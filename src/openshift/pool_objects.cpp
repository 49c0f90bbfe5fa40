#include "openshift/pool_objects.hpp"

#include <fmt/format.h>

namespace edgegpu {

namespace {

using nlohmann::json;

constexpr const char* api_version = "machineconfiguration.openshift.io/v1";
constexpr const char* role_label = "machineconfiguration.openshift.io/role";

json object_of_kind(const char* kind, const std::string& name) {
    return {{"apiVersion", api_version}, {"kind", kind}, {"metadata", {{"name", name}}}};
}

}  // namespace

bool is_pool_of_installer(const std::string& pool) {
    return pool == "worker" || pool == "master";
}

json machine_config_pool(const std::string& pool) {
    json object = object_of_kind("MachineConfigPool", pool);
    const json roles = {
        {"key", role_label}, {"operator", "In"}, {"values", json::array({"worker", pool})}};
    object["spec"] = {
        {"machineConfigSelector", {{"matchExpressions", json::array({roles})}}},
        {"nodeSelector", {{"matchLabels", {{"node-role.kubernetes.io/" + pool, ""}}}}},
        {"maxUnavailable", 1}};
    return object;
}

json machine_config(const std::string& pool, const std::string& image,
                    const std::vector<std::string>& kernel_arguments) {
    json object = object_of_kind("MachineConfig", fmt::format("99-{}-edgegpu-image", pool));
    object["metadata"]["labels"] = {{role_label, pool}};
    object["spec"] = {{"osImageURL", image}};
    if (!kernel_arguments.empty()) {
        object["spec"]["kernelArguments"] = kernel_arguments;
    }
    return object;
}

json machine_os_config(const std::string& pool, const OnClusterBuildRequest& build) {
    json object = object_of_kind("MachineOSConfig", pool);
    object["spec"] = {{"machineConfigPool", {{"name", pool}}},
                      {"imageBuilder", {{"imageBuilderType", "Job"}}},
                      {"renderedImagePushSecret", {{"name", build.push_secret}}},
                      {"renderedImagePushSpec", build.push_to}};
    if (!build.pull_secret.empty()) {
        object["spec"]["baseImagePullSecret"] = {{"name", build.pull_secret}};
    }
    return object;
}

}  // namespace edgegpu
