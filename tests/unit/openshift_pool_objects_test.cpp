#include "openshift/pool_objects.hpp"

#include <gtest/gtest.h>

namespace edgegpu {
namespace {

using nlohmann::json;

TEST(PoolObjects, ThePoolHasTheConfigurationsOfWorkersToo) {
    EXPECT_TRUE(is_pool_of_installer("master"));
    EXPECT_FALSE(is_pool_of_installer("gpu"));
    EXPECT_EQ(machine_config_pool("gpu"), json::parse(R"({
      "apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigPool",
      "metadata": {"name": "gpu"},
      "spec": {
        "machineConfigSelector": {"matchExpressions": [
          {"key": "machineconfiguration.openshift.io/role", "operator": "In",
           "values": ["worker", "gpu"]}]},
        "maxUnavailable": 1,
        "nodeSelector": {"matchLabels": {"node-role.kubernetes.io/gpu": ""}}}})"));
}

TEST(PoolObjects, TheConfigurationHasImageAndKernelArguments) {
    EXPECT_EQ(machine_config("gpu", "q.example/n@sha256:0", {"a=1", "quiet"}), json::parse(R"({
      "apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig",
      "metadata": {"name": "99-gpu-edgegpu-image",
                   "labels": {"machineconfiguration.openshift.io/role": "gpu"}},
      "spec": {"osImageURL": "q.example/n@sha256:0", "kernelArguments": ["a=1", "quiet"]}})"));
    EXPECT_FALSE(machine_config("gpu", "q", {})["spec"].contains("kernelArguments"));
}

TEST(PoolObjects, AnOnClusterBuildIsCalledLikeItsPool) {
    OnClusterBuildRequest build{"q.example/r:1", "push", "", {}};
    EXPECT_EQ(machine_os_config("gpu", build), json::parse(R"({
      "apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineOSConfig",
      "metadata": {"name": "gpu"},
      "spec": {"machineConfigPool": {"name": "gpu"}, "imageBuilder": {"imageBuilderType": "Job"},
               "renderedImagePushSecret": {"name": "push"},
               "renderedImagePushSpec": "q.example/r:1"}})"));
    build.pull_secret = "pull";
    EXPECT_EQ(machine_os_config("gpu", build)["spec"]["baseImagePullSecret"],
              json::parse(R"({"name": "pull"})"));
}

}  // namespace
}  // namespace edgegpu
