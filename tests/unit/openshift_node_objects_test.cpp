#include "openshift/node_objects.hpp"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

std::vector<std::string> files_of(const NodeObjects& objects) {
    std::vector<std::string> names;
    for (const auto& [name, object] : objects.files) {
        names.push_back(name);
    }
    return names;
}

TEST(NodeObjects, TheInstallerHasMadeTheUsualPools) {
    OpenshiftRequest request;
    request.pool = "worker";
    EXPECT_THAT(files_of(node_objects(request, "q@sha256:0", "x86_64", {})),
                ElementsAre("machine-config.yaml"));
    request.pool = "gpu";
    request.on_cluster_build.emplace();
    EXPECT_THAT(
        files_of(node_objects(request, "q@sha256:0", "x86_64", {})),
        ElementsAre("machine-config-pool.yaml", "machine-config.yaml", "machine-os-config.yaml"));
}

TEST(NodeObjects, AreWrittenAsAKustomization) {
    const TemporaryDirectory work(fs::temp_directory_path() / "node-objects");
    OpenshiftRequest request;
    request.pool = "worker";
    const NodeObjects objects = node_objects(request, "q@sha256:0", "x86_64", {"on"});
    write_node_objects(objects, work / "out/");
    EXPECT_EQ(read_file(work / "out/kustomization.yaml", 4096),
              "apiVersion: \"kustomize.config.k8s.io/v1beta1\"\nkind: \"Kustomization\"\n"
              "resources:\n- \"machine-config.yaml\"\n");
    EXPECT_EQ(fs::status(work / "out").permissions(), static_cast<fs::perms>(0755));
    EXPECT_EQ(children_of(work.path()).size(), 1U);
    EXPECT_THROW(write_node_objects(objects, work / "out"), Error);
    EXPECT_EQ(children_of(work.path()).size(), 1U);
}

// The API refuses objects of kinds that the operators of the same directory are to define.
TEST(NodeObjects, WhatOnlyOperatorsDefineIsAppliedApart) {
    const TemporaryDirectory work(fs::temp_directory_path() / "node-objects");
    OpenshiftRequest request;
    request.pool = "worker";
    request.operators.emplace().installed = {"nfd"};
    const NodeObjects objects = node_objects(request, "q@sha256:0", "x86_64", {});
    EXPECT_THAT(files_of(objects),
                ElementsAre("machine-config.yaml", "gpu-operator-namespace.yaml",
                            "gpu-operator-group.yaml", "gpu-operator-subscription.yaml"));
    write_node_objects(objects, work / "out");
    EXPECT_EQ(read_file(work / "out/operands/kustomization.yaml", 4096),
              "apiVersion: \"kustomize.config.k8s.io/v1beta1\"\nkind: \"Kustomization\"\n"
              "resources:\n- \"cluster-policy.yaml\"\n");
    EXPECT_EQ(read_file(work / "out/kustomization.yaml", 4096).find("operands"), std::string::npos);
}

TEST(NodeObjects, OperandsTolerateTheTaintsOfTheMachines) {
    const TemporaryDirectory work(fs::temp_directory_path() / "node-objects");
    write_file(work / "set.yaml", R"(apiVersion: machine.openshift.io/v1beta1
kind: MachineSet
spec:
  selector: {matchLabels: {}}
  template:
    metadata: {labels: {}}
    spec:
      providerSpec: {value: {kind: AWSMachineProviderConfig}}
      taints:
      - {key: example.com/gpu, value: "true", effect: NoSchedule}
      - {key: nvidia.com/gpu, effect: NoSchedule}
)");
    OpenshiftRequest request;
    request.pool = "gpu";
    request.operators.emplace();
    MachineSetRequest& set = request.machine_sets.emplace_back();
    set.source = work / "set.yaml";
    set.name = "gpu-a";
    set.instance_type = "g5.xlarge";
    const NodeObjects objects = node_objects(request, "q@sha256:0", "x86_64", {});
    ASSERT_EQ(objects.operands.back().first, "cluster-policy.yaml");
    EXPECT_EQ(objects.operands.back().second["spec"]["daemonsets"]["tolerations"],
              nlohmann::json::parse(R"([
                {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
                {"key": "example.com/gpu", "operator": "Exists", "effect": "NoSchedule"}])"));
}

}  // namespace
}  // namespace edgegpu
