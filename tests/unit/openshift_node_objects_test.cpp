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

}  // namespace
}  // namespace edgegpu
