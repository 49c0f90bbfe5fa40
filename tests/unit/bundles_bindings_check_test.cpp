#include "bundles/checks/bindings_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bundles_check_fixture.hpp"

namespace edgegpu::test {
namespace {

using testing::HasSubstr;

std::string bindings_of(const std::string& text) {
    return said_of({in_app(text)}, [](const KnownObjects& known, const std::vector<PodTemplate>&,
                                      Findings& findings) { check_bindings(known, findings); });
}

const std::string api = "rbac.authorization.k8s.io/v1";

std::string binding(const std::string& role, const std::string& subject = "") {
    return object(api, "RoleBinding", "b", "app") + "roleRef: {" + role + "}\nsubjects: [" +
           subject + "]\n";
}

TEST(BindingsCheckTest, RolesThatDoNotExist) {
    EXPECT_THAT(bindings_of(binding("kind: Role, name: r")), HasSubstr("no bundle has Role app/r"));
    EXPECT_EQ(
        bindings_of(binding("kind: Role, name: r") + "---\n" + object(api, "Role", "r", "app")),
        "");
    EXPECT_THAT(
        bindings_of(binding("kind: Role, name: r") + "---\n" + object(api, "Role", "r", "other")),
        HasSubstr("is in the namespace other"));
    EXPECT_THAT(bindings_of(binding("kind: ClusterRole, name: r")),
                HasSubstr("no bundle has ClusterRole r"));
    EXPECT_EQ(bindings_of(binding("kind: ClusterRole, name: r") + "---\n" +
                          object(api, "ClusterRole", "r")),
              "");
    for (const char* name : {"cluster-admin", "admin", "edit", "view", "'system:auth-delegator'",
                             "'system:openshift:scc:privileged'", "aggregate-route-edit"}) {
        EXPECT_EQ(bindings_of(binding("kind: ClusterRole, name: " + std::string(name))), "");
    }
}

TEST(BindingsCheckTest, SubjectsThatDoNotExist) {
    const std::string role = "kind: ClusterRole, name: view";
    EXPECT_THAT(bindings_of(binding(role, "{kind: ServiceAccount, name: x, namespace: app}")),
                HasSubstr("/a.yaml:12:41: RoleBinding app/b: no bundle has ServiceAccount app/x"));
    EXPECT_THAT(bindings_of(binding(role, "{kind: ServiceAccount, name: x}")),
                HasSubstr("ServiceAccount app/x"))
        << "the binding's own namespace";
    EXPECT_EQ(bindings_of(binding(role, "{kind: ServiceAccount, name: x, namespace: other}")), "");
    EXPECT_EQ(bindings_of(binding(role, "{kind: ServiceAccount, name: default, namespace: app}")),
              "");
    EXPECT_EQ(bindings_of(binding(role, "{kind: User, name: x}, {kind: Group, name: y}")), "");
    EXPECT_THAT(bindings_of(object(api, "ClusterRoleBinding", "b") +
                            "roleRef: {kind: ClusterRole, name: view}\n"
                            "subjects: [{kind: ServiceAccount, name: x}]\n"),
                HasSubstr("the service account x has no namespace"));
}

}  // namespace
}  // namespace edgegpu::test
