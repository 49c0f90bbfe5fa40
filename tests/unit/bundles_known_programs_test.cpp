#include "bundles/privileges/known_programs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edgegpu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// "VERBS of RESOURCE", those of all namespaces with "*".
std::vector<std::string> needs(const char* container) {
    std::vector<std::string> said;
    for (const ApiRequest& each : needs_of(nlohmann::json::parse(container), "n").requests) {
        said.push_back(each.verb + ' ' + (each.name_space.empty() ? "*" : each.name_space) + '/' +
                       each.resource + (each.name.empty() ? "" : '/' + each.name));
    }
    return said;
}

TEST(KnownProgramsTest, TheDevicePluginAsksNothing) {
    EXPECT_THAT(needs(R"({"image":"nvcr.io/nvidia/k8s-device-plugin:v0.20.0"})"), IsEmpty());
    EXPECT_THAT(needs(R"({"image":"k8s-device-plugin","command":["nvidia-device-plugin"]})"),
                IsEmpty());
    EXPECT_THAT(
        needs(R"({"image":"h:5000/k8s-device-plugin@sha256:0","command":["config-manager"]})"),
        ElementsAre("list */nodes", "watch */nodes"));
    EXPECT_THAT(needs(R"({"image":"my-k8s-device-plugin","command":["config-manager"]})"),
                IsEmpty());
}

TEST(KnownProgramsTest, FeatureDiscovery) {
    EXPECT_THAT(
        needs(R"({"image":"k8s-device-plugin","command":["/usr/bin/gpu-feature-discovery"],
                          "env":[{"name":"GFD_USE_NODE_FEATURE_API","value":"true"}]})"),
        ElementsAre("get n/nodefeatures", "create n/nodefeatures", "update n/nodefeatures"));
    EXPECT_THAT(
        needs(R"({"image":"k8s-device-plugin","command":["gpu-feature-discovery"],
                          "args":["--use-node-feature-api"]})"),
        ElementsAre("get n/nodefeatures", "create n/nodefeatures", "update n/nodefeatures"));
    EXPECT_THAT(needs(R"({"image":"k8s-device-plugin","command":["gpu-feature-discovery"],
                          "args":["-use-node-feature-api=false"]})"),
                IsEmpty());
    EXPECT_THAT(needs(R"({"image":"gpu-feature-discovery"})"), IsEmpty()) << "by its version";
    for (const char* args : {"-no-publish", "-enable-nodefeature-api=false",
                             "-feature-gates=NodeFeatureAPI=false", "-kubeconfig=/x"}) {
        const std::string text = std::string(R"({"image":"node-feature-discovery:v1",
            "command":["nfd-worker"],"args":[")") +
                                 args + "\"]}";
        EXPECT_THAT(needs(text.c_str()), IsEmpty()) << args;
    }
    EXPECT_THAT(needs(R"({"image":"nfd/node-feature-discovery:v1","command":["nfd-gc"]})"),
                ElementsAre("list */nodefeatures", "delete */nodefeatures", "list */nodes",
                            "watch */nodes"));
}

TEST(KnownProgramsTest, TheExporterByItsOptions) {
    EXPECT_THAT(needs(R"({"image":"nvidia/k8s/dcgm-exporter:4",
                          "env":[{"name":"DCGM_EXPORTER_KUBERNETES","value":"true"}]})"),
                IsEmpty());
    EXPECT_THAT(needs(R"({"image":"dcgm-exporter","args":["--kubernetes-enable-pod-labels"]})"),
                ElementsAre("list */pods", "watch */pods"));
    EXPECT_THAT(needs(R"({"image":"dcgm-exporter","args":["-m","x:y"],
                          "env":[{"name":"DCGM_EXPORTER_CONFIGMAP_DATA","value":"a:b"}]})"),
                ElementsAre("get a/configmaps/b"));
    EXPECT_THAT(needs(R"({"image":"dcgm-exporter","args":["--configmap-data","none"]})"),
                IsEmpty());
}

TEST(KnownProgramsTest, OddContainers) {
    for (const char* text : {"null", "[]", "{}", R"({"image":7})", R"({"image":""})",
                             R"({"image":"gpu-operator","command":[7],"args":{},"env":[null]})"}) {
        EXPECT_NO_THROW((void)needs(text)) << text;
    }
}

}  // namespace
}  // namespace edgegpu
