#include "openshift/operator_objects.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.hpp"

namespace edgegpu {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

std::vector<std::string> kinds_of(const NamedObjects& objects) {
    std::vector<std::string> kinds;
    for (const auto& [name, object] : objects) {
        kinds.push_back(object.at("kind").get<std::string>());
    }
    return kinds;
}

json policy_of(const OperatorsRequest& request, const GpuImageFacts& image) {
    return operator_operands(request, image, {}).back().second;
}

TEST(OperatorObjects, AnOperatorIsInstalledInItsNamespace) {
    OperatorsRequest request;
    const NamedObjects both = operator_subscriptions(request);
    EXPECT_THAT(kinds_of(both), ElementsAre("Namespace", "OperatorGroup", "Subscription",
                                            "Namespace", "OperatorGroup", "Subscription"));
    EXPECT_EQ(both[1].second["spec"], json::parse(R"({"targetNamespaces": ["openshift-nfd"]})"));
    EXPECT_EQ(both[2].second, json::parse(R"({
      "apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription",
      "metadata": {"name": "nfd", "namespace": "openshift-nfd"},
      "spec": {"name": "nfd", "source": "redhat-operators",
               "sourceNamespace": "openshift-marketplace",
               "installPlanApproval": "Automatic"}})"));
    request.gpu_channel = "v25.10";
    request.gpu_source = "mirror";
    request.manual_approval = true;
    EXPECT_EQ(operator_subscriptions(request).back().second["spec"], json::parse(R"({
      "name": "gpu-operator-certified", "source": "mirror", "channel": "v25.10",
      "sourceNamespace": "openshift-marketplace", "installPlanApproval": "Manual"})"));
}

// A second operator group in a namespace stops the operators of both.
TEST(OperatorObjects, NothingIsInstalledTwice) {
    OperatorsRequest request;
    request.installed = {"nfd", "gpu-operator"};
    EXPECT_TRUE(operator_subscriptions(request).empty());
    EXPECT_THAT(kinds_of(operator_operands(request, {true, true}, {})),
                ElementsAre("ClusterPolicy"));
    request.installed = {"gpu-operator"};
    EXPECT_EQ(operator_subscriptions(request).size(), 3U);
    EXPECT_THAT(kinds_of(operator_operands(request, {true, true}, {})),
                ElementsAre("NodeFeatureDiscovery", "ClusterPolicy"));
}

TEST(OperatorObjects, ThePolicyBringsWhatTheImageHasNot) {
    const json bare = policy_of({}, {true, false})["spec"];
    EXPECT_EQ(bare["driver"], json::parse(R"({"enabled": false})"));
    EXPECT_EQ(bare["toolkit"], json::parse(R"({"enabled": true})"));
    EXPECT_FALSE(bare.contains("cdi") || bare.contains("mig") || bare.contains("migManager"));
    const json equipped = policy_of({}, {true, true})["spec"];
    EXPECT_EQ(equipped["toolkit"], json::parse(R"({"enabled": false})"));
    EXPECT_EQ(equipped["cdi"], json::parse(R"({"enabled": false})"));
    EXPECT_THROW(static_cast<void>(policy_of({}, {false, true})), Error);
}

TEST(OperatorObjects, InstancesOfTheImageStay) {
    OperatorsRequest request;
    request.mig_strategy = "mixed";
    const json spec = policy_of(request, {true, true})["spec"];
    EXPECT_EQ(spec["mig"], json::parse(R"({"strategy": "mixed"})"));
    EXPECT_EQ(spec["migManager"], json::parse(R"({"enabled": false})"));
}

}  // namespace
}  // namespace edgegpu
