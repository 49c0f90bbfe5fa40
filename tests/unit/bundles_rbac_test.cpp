#include "bundles/privileges/rbac.hpp"

#include <gtest/gtest.h>

namespace edgegpu {
namespace {

using nlohmann::json;

json role(const char* kind, const char* name, const char* rules) {
    json object = {{"apiVersion", "rbac.authorization.k8s.io/v1"},
                   {"kind", kind},
                   {"metadata", {{"name", name}, {"namespace", "a"}}}};
    object["rules"] = json::parse(rules);
    return object;
}

json binding(const char* kind, const char* name_space, const char* role_kind, const char* role_name,
             const char* subject) {
    json object = {{"apiVersion", "rbac.authorization.k8s.io/v1"},
                   {"kind", kind},
                   {"metadata", {{"name", "b"}, {"namespace", name_space}}},
                   {"roleRef", {{"kind", role_kind}, {"name", role_name}}}};
    object["subjects"] = json::array({json::parse(subject)});
    return object;
}

constexpr const char* account_of_a = R"({"kind":"ServiceAccount","name":"x","namespace":"a"})";

Allowed may(const std::vector<json>& objects, const ApiRequest& request) {
    return AccessRules(objects).may({"a", "x"}, request);
}

TEST(RbacTest, WhatABindingReaches) {
    const json nodes =
        role("ClusterRole", "r", R"([{"apiGroups":[""],"resources":["nodes"],"verbs":["get"]}])");
    const ApiRequest get{"", "nodes", "get", "", ""};
    EXPECT_EQ(may({nodes}, get), Allowed::no);
    EXPECT_EQ(
        may({nodes, binding("ClusterRoleBinding", "", "ClusterRole", "r", account_of_a)}, get),
        Allowed::yes);
    const std::vector<json> in_a{
        nodes, binding("RoleBinding", "a", "ClusterRole", "r", R"({"kind":"ServiceAccount",
        "name":"x"})")};
    EXPECT_EQ(may(in_a, get), Allowed::no) << "of the whole cluster";
    EXPECT_EQ(may(in_a, {"", "nodes", "get", "", "a"}), Allowed::yes);
    EXPECT_EQ(may(in_a, {"", "nodes", "list", "", "a"}), Allowed::no);
    EXPECT_EQ(may(in_a, {"apps", "nodes", "get", "", "a"}), Allowed::no);
    EXPECT_EQ(may({nodes, binding("RoleBinding", "a", "ClusterRole", "r",
                                  R"({"kind":"ServiceAccount","name":"x","namespace":"b"})")},
                  {"", "nodes", "get", "", "a"}),
              Allowed::no);
}

TEST(RbacTest, GroupsOfAccounts) {
    const json all =
        role("ClusterRole", "r", R"([{"apiGroups":["*"],"resources":["*/status"],"verbs":["*"]}])");
    const ApiRequest request{"apps", "daemonsets/status", "patch", "", ""};
    for (const char* name :
         {"system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated"}) {
        const std::string subject = std::string(R"({"kind":"Group","name":")") + name + "\"}";
        EXPECT_EQ(may({all, binding("ClusterRoleBinding", "", "ClusterRole", "r", subject.c_str())},
                      request),
                  Allowed::yes)
            << name;
    }
    EXPECT_EQ(may({all, binding("ClusterRoleBinding", "", "ClusterRole", "r",
                                R"({"kind":"Group","name":"system:serviceaccounts:b"})")},
                  request),
              Allowed::no);
    EXPECT_EQ(may({all, binding("ClusterRoleBinding", "", "ClusterRole", "r",
                                R"({"kind":"User","name":"system:serviceaccount:a:x"})")},
                  request),
              Allowed::yes);
}

TEST(RbacTest, WhatIsNotAmongTheObjectsIsUnknown) {
    const ApiRequest get{"", "nodes", "get", "", ""};
    const ApiRequest use{"security.openshift.io", "securitycontextconstraints", "use", "anyuid",
                         "a"};
    const auto bound = [&](const char* name, const ApiRequest& request) {
        return may({binding("ClusterRoleBinding", "", "ClusterRole", name, account_of_a)}, request);
    };
    EXPECT_EQ(bound("foreign", get), Allowed::unknown);
    EXPECT_EQ(bound("foreign", use), Allowed::unknown);
    EXPECT_EQ(bound("edit", get), Allowed::unknown);
    EXPECT_EQ(bound("edit", use), Allowed::no);
    EXPECT_EQ(bound("cluster-admin", use), Allowed::yes);
    EXPECT_EQ(bound("system:openshift:scc:anyuid", use), Allowed::yes);
    EXPECT_EQ(bound("system:openshift:scc:anyuid", get), Allowed::no);
    EXPECT_EQ(bound("system:openshift:scc:privileged", use), Allowed::no);
}

TEST(RbacTest, NamedObjects) {
    const std::vector<json> objects{
        role("Role", "r", R"([{"apiGroups":[""],"resources":["configmaps"],"verbs":["get"],
             "resourceNames":["m"]}])"),
        binding("RoleBinding", "a", "Role", "r", account_of_a)};
    EXPECT_EQ(may(objects, {"", "configmaps", "get", "m", "a"}), Allowed::yes);
    EXPECT_EQ(may(objects, {"", "configmaps", "get", "n", "a"}), Allowed::no);
    EXPECT_EQ(may(objects, {"", "configmaps", "get", "", "a"}), Allowed::unknown);
}

TEST(RbacTest, OddObjects) {
    EXPECT_EQ(may({json(), json::array(), json::parse(R"({"apiVersion":7,"kind":[]})"),
                   binding("RoleBinding", "a", "Role", "r", "7")},
                  {"", "nodes", "get", "", "a"}),
              Allowed::no);
}

}  // namespace
}  // namespace edgegpu
