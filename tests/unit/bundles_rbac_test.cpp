#include "bundles/privileges/rbac.hpp"

#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

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

/// JSON is YAML.
AccessRules rules_of(const std::vector<json>& objects) {
    AccessObjects found;
    for (const json& object : objects) {
        for (const KubeObject& each : read_objects("test", object.dump())) {
            found.add(each);
        }
    }
    return AccessRules(found);
}

Allowed may(const std::vector<json>& objects, const ApiRequest& request) {
    return rules_of(objects).may({"a", "x"}, request);
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
    json odd = role("Role", "r", R"({"a":[{"verbs":"*"}]})");
    odd["rules"].push_back({"b", 7});
    EXPECT_EQ(may({odd,
                   role("Role", "r", "7"),
                   role("ClusterRole", "r", "[7,[],null]"),
                   {{"apiVersion", "rbac.authorization.k8s.io/v1"},
                    {"kind", "RoleBinding"},
                    {"metadata", {{"name", "b"}}},
                    {"roleRef", 7},
                    {"subjects", "x"}},
                   binding("RoleBinding", "a", "Role", "r", "7"),
                   binding("RoleBinding", "a", "Role", "r", account_of_a)},
                  {"", "nodes", "get", "", "a"}),
              Allowed::no);
}

TEST(RbacTest, WhatAnybodyMay) {
    const json pods =
        role("ClusterRole", "r", R"([{"apiGroups":[""],"resources":["pods"],"verbs":["create"]},
             {"apiGroups":[""],"resources":["secrets"],"verbs":["patch"],"resourceNames":["s"]}])");
    const auto anybody = [](const std::vector<json>& objects, const char* resource,
                            const char* name_space, const char* name = "") {
        return rules_of(objects).anybody_may({"create", "patch"}, "", resource, name_space, name);
    };
    const std::vector<json> in_b{pods,
                                 binding("RoleBinding", "b", "ClusterRole", "r", account_of_a)};
    EXPECT_TRUE(anybody(in_b, "pods", "b"));
    EXPECT_FALSE(anybody(in_b, "pods", "a")) << "the account's own namespace";
    EXPECT_FALSE(anybody(in_b, "pods", "")) << "all namespaces";
    EXPECT_FALSE(anybody(in_b, "services", "b"));
    EXPECT_TRUE(anybody(in_b, "secrets", "b", "s"));
    EXPECT_FALSE(anybody(in_b, "secrets", "b"));
    const std::vector<json> everywhere{
        pods, binding("ClusterRoleBinding", "", "ClusterRole", "r", account_of_a)};
    EXPECT_TRUE(anybody(everywhere, "pods", ""));
    EXPECT_TRUE(anybody(everywhere, "pods", "a"));
    EXPECT_FALSE(anybody(everywhere, "pods", "b"));
    for (const auto& [name, allowed] :
         {std::pair("admin", true), {"edit", true}, {"cluster-admin", true}, {"view", false}}) {
        EXPECT_EQ(
            anybody({binding("RoleBinding", "b", "ClusterRole", name, account_of_a)}, "pods", "b"),
            allowed)
            << name;
    }
    json aggregated = role("ClusterRole", "g", "[]");
    aggregated["aggregationRule"] = json::object();
    const std::vector<json> unknown{aggregated,
                                    binding("RoleBinding", "a", "ClusterRole", "g", account_of_a)};
    EXPECT_TRUE(anybody(unknown, "pods", "a"));
    EXPECT_EQ(may(unknown, {"", "pods", "create", "", "a"}), Allowed::unknown);
}

}  // namespace
}  // namespace edgegpu
