#include "blueprint/parse/node_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/blueprint_testing.hpp"

namespace edgegpu {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view node_blueprint =
    "distro = \"lab-12\"\n[[repositories]]\nid = \"a\"\nbaseurl = \"/x\"\ngpgcheck = false\n"
    "repo_gpgcheck = false\n[accounts]\nlogin = \"none\"\n[ostree]\n"
    "url = \"https://e.example/repo\"\n";
constexpr std::string_view of_node = "[openshift]\npool = \"gpu\"\nimage = \"q.example/n\"\n";

class NodeCheckTest : public BlueprintTest {};

TEST(FilesOfTheCluster, AreThoseOfItsTemplates) {
    for (const char* path : {"/etc/kubernetes/kubelet.conf", "/etc/containers/registries.conf",
                             "/etc/crio/crio.conf.d/00-default",
                             "/etc/systemd/system/kubelet.service.d/20-logging.conf",
                             "/etc/systemd/system/nodeip-configuration.service"}) {
        EXPECT_TRUE(is_file_of_cluster(path)) << path;
    }
    for (const char* path : {"/etc/kubernetes", "/etc/crio/crio.conf.d/99-nvidia.conf",
                             "/etc/containers/registries.conf.d/edge.conf",
                             "/usr/lib/systemd/system/kubelet.service"}) {
        EXPECT_FALSE(is_file_of_cluster(path)) << path;
    }
}

TEST_F(NodeCheckTest, FilesThatTheClusterReplacesAreRefusedOnItsNodesOnly) {
    put("overlay/etc/kubernetes/kubelet.conf", "a: 1\n");
    const std::string files =
        "[[customizations.files]]\npath = \"/etc/containers/policy.json\"\ndata = \"{}\"\n"
        "[[overlays]]\nsource = \"./overlay\"\n";
    EXPECT_THAT(failure(std::string(node_blueprint) + std::string(of_node) + files, true),
                AllOf(HasSubstr("/etc/containers/policy.json: the cluster replaces this file"),
                      HasSubstr("/etc/kubernetes/kubelet.conf: the cluster replaces")));
    EXPECT_THAT(failure(std::string(node_blueprint) + files + "[updates]\nx = 1\n", true),
                Not(HasSubstr("the cluster")));
}

TEST_F(NodeCheckTest, NodesDoNotUpdateThemselves) {
    EXPECT_THAT(failure(std::string(node_blueprint) + std::string(of_node) + "[updates]\n", true),
                HasSubstr(":14:1: [updates] on a node of OpenShift: the cluster decides"));
}

}  // namespace
}  // namespace edgegpu
