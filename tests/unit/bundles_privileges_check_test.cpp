#include "bundles/checks/privileges_check.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.hpp"

namespace edgegpu {
namespace {

using testing::HasSubstr;
using testing::Not;

/// What is said of objects ("---" between them) in a bundle; empty if nothing.
std::string privileges_of(const std::string& objects) {
    const RenderedBundle bundle{"b",
                                {"b", "/home/user/b", {"b.toml", 3, 12}, {{"a.yaml", objects}}},
                                objects,
                                read_objects("bundle b", objects)};
    try {
        Mistakes mistakes;
        Findings findings(mistakes);
        const std::vector<RenderedBundle> bundles{bundle};
        const std::vector<BundleObject> objects_in = objects_of(bundles);
        ImageFacts facts;
        facts.kubernetes = {33};
        check_privileges(KnownObjects(objects_in, facts), pods_of(objects_in), findings);
        mistakes.throw_any("");
    } catch (const Error& failure) {
        EXPECT_EQ(failure.kind(), ErrorKind::usage);
        return failure.render();
    }
    return "";
}

std::string name_space(const std::string& labels, const std::string& name = "n") {
    return "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: " + name + "\n  labels: {" +
           labels + "}\n";
}

const std::string pod_of = "    spec:\n      containers:\n        - name: c\n";

/// A Deployment in the namespace "n"; `more` belongs to its container, or, less indented, its pod.
std::string deployment(const std::string& more, const std::string& in = "n") {
    return "---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d\n  namespace: " + in +
           "\nspec:\n  template:\n    metadata: {labels: {a: b}}\n" + pod_of + more;
}

std::string bare_pod(const std::string& more) {
    return "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  namespace: n\nspec:\n"
           "  containers:\n    - name: c\n" +
           more;
}

std::string grant(const std::string& role) {
    return "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata:\n  name: "
           "r\n"
           "  namespace: n\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, "
           "name: \"" +
           role + "\"}\nsubjects: [{kind: ServiceAccount, name: default}]\n";
}

const std::string enforce = "pod-security.kubernetes.io/enforce: ";
const std::string privileged = "          securityContext: {privileged: true}\n";

TEST(PrivilegesCheckTest, WhatAConstraintFillsInCounts) {
    // restricted-v2 drops capabilities and sets user and seccomp profile; anyuid does not.
    EXPECT_EQ(privileges_of(name_space(enforce + "restricted") + deployment("")), "");
    EXPECT_THAT(privileges_of(name_space(enforce + "restricted") + bare_pod("")),
                HasSubstr("Pod n/p: container \"c\" does not drop all capabilities, but"));
    EXPECT_THAT(privileges_of(name_space(enforce + "restricted") + deployment("") +
                              grant("system:openshift:scc:anyuid")),
                HasSubstr("Deployment n/d: container \"c\" may run as root, but"));
    EXPECT_EQ(privileges_of(name_space(enforce + "privileged") + bare_pod("")), "");
}

TEST(PrivilegesCheckTest, GrantsReachTheAccountsPods) {
    const std::string wide = name_space(enforce + "privileged");
    EXPECT_THAT(
        privileges_of(wide + deployment(privileged)),
        HasSubstr("a.yaml:18:41: Deployment n/d: container \"c\" is privileged; no security "
                  "context constraint that service account \"default\" may use allows it "
                  "(restricted-v2)"));
    EXPECT_EQ(
        privileges_of(wide + deployment(privileged) + grant("system:openshift:scc:privileged")),
        "");
    EXPECT_EQ(privileges_of(wide + deployment(privileged) + grant("cluster-admin")), "");
    EXPECT_NE(privileges_of(wide + deployment(privileged) + grant("system:openshift:scc:anyuid")),
              "");
    EXPECT_NE(privileges_of(wide + deployment(privileged) + grant("edit")), "");
    EXPECT_EQ(privileges_of(wide + deployment(privileged) + grant("brought-by-somebody-else")), "");
}

TEST(PrivilegesCheckTest, ANamespaceWithoutLabelFollowsItsAccounts) {
    const std::string role = grant("system:openshift:scc:privileged");
    EXPECT_EQ(privileges_of(name_space("") + deployment(privileged) + role), "");
    const std::string full =
        "      securityContext: {allowPrivilegeEscalation: false, runAsNonRoot: true, "
        "capabilities: {drop: [ALL]}, seccompProfile: {type: RuntimeDefault}}\n";
    EXPECT_EQ(privileges_of(name_space("") + bare_pod(full)), "");
    EXPECT_THAT(privileges_of(name_space("") + bare_pod("")),
                HasSubstr("MicroShift makes namespace \"n\" enforce the pod security level "
                          "\"restricted\""));
    EXPECT_EQ(privileges_of(name_space("") + bare_pod("") + role), "");
    const std::string no_sync = "security.openshift.io/scc.podSecurityLabelSync: \"false\"";
    EXPECT_THAT(privileges_of(name_space(no_sync) + bare_pod("") + role),
                HasSubstr("\"restricted\" is MicroShift's default"));
    // The label is replaced by what is computed.
    const std::string sync = "security.openshift.io/scc.podSecurityLabelSync: \"true\", ";
    EXPECT_EQ(
        privileges_of(name_space(sync + enforce + "baseline") + deployment(privileged) + role), "");
}

TEST(PrivilegesCheckTest, WhatComesFromElsewhereIsNotReported) {
    const std::string wide = name_space(enforce + "privileged");
    EXPECT_EQ(privileges_of(deployment(privileged)), "") << "namespace";
    EXPECT_EQ(privileges_of(deployment(privileged, "openshift-dns")), "");
    EXPECT_EQ(privileges_of(name_space("", "openshift-mine") + deployment("", "openshift-mine")),
              "");
    EXPECT_EQ(privileges_of(wide + deployment(privileged + "      serviceAccountName: x\n")), "");
    EXPECT_EQ(privileges_of(name_space(enforce + "privileged, openshift.io/run-level: \"1\"") +
                            deployment(privileged)),
              "");
    EXPECT_EQ(privileges_of(wide +
                            "---\napiVersion: example.com/v1\nkind: App\nmetadata:\n  name: d\n"
                            "  namespace: n\nspec:\n  template:\n" +
                            pod_of + privileged),
              "");
    EXPECT_EQ(privileges_of(wide + deployment(privileged + "      os: {name: windows}\n")), "");
}

TEST(PrivilegesCheckTest, RulesThatDependOnAFeatureGate) {
    const std::string role = grant("system:openshift:scc:anyuid");
    const std::string restricted = name_space(enforce + "restricted");
    const std::string context =
        "          securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: "
        "[ALL]}}\n";
    EXPECT_THAT(privileges_of(restricted + deployment(context) + role),
                HasSubstr("may run as root"));
    EXPECT_THAT(privileges_of(restricted + deployment(context + "      hostUsers: false\n") + role),
                Not(HasSubstr("may run as root")));
}

TEST(PrivilegesCheckTest, TheTokenIsAVolume) {
    const std::string scc =
        "---\napiVersion: security.openshift.io/v1\nkind: SecurityContextConstraints\nmetadata:\n"
        "  name: few\nallowHostDirVolumePlugin: true\nallowPrivilegedContainer: true\n"
        "runAsUser: {type: RunAsAny}\nseLinuxContext: {type: RunAsAny}\nvolumes: [hostPath]\n"
        "groups: [\"system:serviceaccounts:n\"]\n";
    const std::string wide = name_space(enforce + "privileged") + scc;
    EXPECT_THAT(privileges_of(wide + deployment(privileged)),
                HasSubstr("volume \"the token of the service account\" is of the type projected"));
    EXPECT_EQ(privileges_of(wide +
                            deployment(privileged + "      automountServiceAccountToken: false\n")),
              "");
}

TEST(PrivilegesCheckTest, APodMayRequireAConstraint) {
    const std::string wide = name_space(enforce + "privileged");
    const std::string pod = deployment("");
    std::string required = pod;
    required.replace(required.find("{labels: {a: b}}"), 16,
                     "{annotations: {openshift.io/required-scc: restricted-v2}}");
    EXPECT_EQ(privileges_of(wide + required), "");
    required += privileged;
    EXPECT_THAT(privileges_of(wide + required + grant("system:openshift:scc:privileged")),
                HasSubstr("container \"c\" is privileged"));
}

}  // namespace
}  // namespace edgegpu
