#include "bundles/checks/pod_references_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bundles_check_fixture.hpp"

namespace edgegpu::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string references_of(const std::vector<std::string>& texts,
                          const ImageFacts& facts = plain_facts()) {
    return said_of(
        texts,
        [](const KnownObjects& known, const std::vector<PodTemplate>& pods, Findings& findings) {
            check_pod_references(known, pods, findings);
            check_storage_classes(known, findings);
        },
        facts);
}

const std::string secret_of_environment =
    pod("", "env: [{name: X, valueFrom: {secretKeyRef: {name: s, key: k}}}]");

TEST(PodReferencesCheckTest, AMissingSecretAndTheWaysOut) {
    const std::string text = in_app(secret_of_environment);
    EXPECT_THAT(
        references_of({text}),
        AllOf(HasSubstr("/home/user/b0/a.yaml:11:94: Pod app/p: no bundle has Secret app/s"),
              HasSubstr("provided = [\"Secret app/s\"]"), HasSubstr("optional: true")));
    ImageFacts facts = plain_facts();
    facts.provided = {{"Secret", "app", "s", {}}};
    EXPECT_EQ(references_of({text}, facts), "");
    facts.provided = {{"Secret", "app", "*", {}}};
    EXPECT_EQ(references_of({text}, facts), "");
    facts.provided = {{"Secret", "other", "*", {}}, {"ConfigMap", "app", "s", {}}};
    EXPECT_NE(references_of({text}, facts), "");
    facts.partial = true;
    facts.provided.clear();
    EXPECT_EQ(references_of({text}, facts), "") << "another bundle may have it";
    EXPECT_EQ(references_of({in_app(pod("",
                                        "env: [{name: X, valueFrom: {secretKeyRef: "
                                        "{name: s, key: k, optional: true}}}]"))}),
              "");
    EXPECT_EQ(references_of({text, object("v1", "Secret", "s", "app")}), "") << "another bundle";
}

TEST(PodReferencesCheckTest, EveryPlaceThatNamesOne) {
    for (const std::string& text : {
             pod("", "env: [{name: X, valueFrom: {configMapKeyRef: {name: x, key: k}}}]"),
             pod("", "envFrom: [{configMapRef: {name: x}}]"),
             pod("", "envFrom: [{secretRef: {name: x}}]"),
             pod("volumes: [{name: v, configMap: {name: x}}]"),
             pod("volumes: [{name: v, secret: {secretName: x}}]"),
             pod("volumes: [{name: v, projected: {sources: [{configMap: {name: x}}]}}]"),
             pod("volumes: [{name: v, projected: {sources: [{secret: {name: x}}]}}]"),
             pod("volumes: [{name: v, persistentVolumeClaim: {claimName: x}}]"),
             pod("serviceAccountName: x"),
             pod("serviceAccount: x"),
             pod("initContainers: [{name: i, image: 'x:1', envFrom: [{secretRef: {name: x}}]}]"),
         }) {
        EXPECT_THAT(references_of({in_app(text)}), HasSubstr("app/x")) << text;
    }
    EXPECT_THAT(references_of({in_app(pod("priorityClassName: x"))}),
                HasSubstr("no bundle has PriorityClass x"));
}

TEST(PodReferencesCheckTest, WhatEveryNamespaceHas) {
    for (const std::string& text : {
             pod("volumes: [{name: v, configMap: {name: kube-root-ca.crt}}]"),
             pod("volumes: [{name: v, configMap: {name: openshift-service-ca.crt}}]"),
             pod("serviceAccountName: default"),
             pod("priorityClassName: system-node-critical"),
             pod("priorityClassName: openshift-user-critical"),
             pod("imagePullSecrets: [{name: x}]"),
         }) {
        EXPECT_EQ(references_of({in_app(text)}), "") << text;
    }
}

TEST(PodReferencesCheckTest, ANamespaceOfOthersMayHaveAnything) {
    EXPECT_EQ(references_of({secret_of_environment}), "") << "no bundle has the namespace";
    const std::string in_default =
        object("v1", "Pod", "p") + "spec: {serviceAccountName: x, containers: [{name: c}]}\n";
    EXPECT_THAT(references_of({in_default}), HasSubstr("ServiceAccount default/x"));
    EXPECT_EQ(references_of({in_default + "---\n" + object("v1", "ServiceAccount", "x")}), "");
}

TEST(PodReferencesCheckTest, ANearNameOrTheWrongNamespace) {
    const std::string text = in_app(pod("serviceAccountName: plugin"));
    EXPECT_THAT(references_of({text + "---\n" + object("v1", "ServiceAccount", "plugn", "app")}),
                HasSubstr("did you mean plugn?"));
    EXPECT_THAT(references_of({text + "---\n" + object("v1", "ServiceAccount", "plugin")}),
                HasSubstr("is in the namespace default (it names no namespace)"));
}

TEST(PodReferencesCheckTest, WhatProgramsOfTheNamespaceMayCreateIsNotMissed) {
    const std::string rules = "rules: [{apiGroups: [''], resources: [secrets], verbs: [create]}]\n";
    const std::string binding =
        "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}\n"
        "subjects: [{kind: ServiceAccount, name: default, namespace: app}]\n";
    const auto with = [&](const std::string& in, const std::string& rule) {
        const std::string api = "rbac.authorization.k8s.io/v1";
        return references_of({in_app(secret_of_environment) + "---\n" +
                              object(api, "Role", "r", in) + rule + "---\n" +
                              object(api, "RoleBinding", "r", in) + binding});
    };
    EXPECT_EQ(with("app", rules), "");
    EXPECT_NE(with("other", rules), "");
    EXPECT_NE(with("app", "rules: [{apiGroups: [''], resources: [secrets], verbs: [get]}]\n"), "");
    EXPECT_NE(with("app", "rules: [{apiGroups: [x], resources: ['*'], verbs: ['*']}]\n"), "");
}

TEST(PodReferencesCheckTest, WhatCustomResourcesMakeIsNotMissed) {
    const std::string text = in_app(secret_of_environment) + "---\n";
    EXPECT_EQ(references_of({text + object("cert-manager.io/v1", "Certificate", "c", "app") +
                             "spec: {secretName: s}\n"}),
              "");
    EXPECT_EQ(references_of({text + object("bitnami.com/v1alpha1", "SealedSecret", "s", "app")}),
              "");
    EXPECT_NE(references_of({text + object("cert-manager.io/v1", "Certificate", "c", "app") +
                             "spec: {secretName: t}\n"}),
              "");
    EXPECT_NE(references_of({text + object("cert-manager.io/v1", "Certificate", "s", "other")}),
              "");
}

TEST(PodReferencesCheckTest, TheServiceCaMakesSecrets) {
    EXPECT_EQ(references_of({in_app(secret_of_environment) + "---\n" +
                             object("v1", "Service", "svc", "app") +
                             "  annotations: "
                             "{service.beta.openshift.io/serving-cert-secret-name: s}\n"}),
              "");
}

TEST(PodReferencesCheckTest, KeysOfConfigMaps) {
    const std::string text =
        in_app(pod("volumes: [{name: v, configMap: {name: x, items: [{key: a, path: a}, "
                   "{key: b, path: b}]}}]",
                   "env: [{name: X, valueFrom: {configMapKeyRef: {name: x, key: c}}}]")) +
        "---\n" + object("v1", "ConfigMap", "x", "app");
    const std::string said = references_of({text + "data: {a: '1'}\n"});
    EXPECT_THAT(said, HasSubstr("ConfigMap x has no key \"b\""));
    EXPECT_THAT(said, HasSubstr("ConfigMap x has no key \"c\""));
    EXPECT_THAT(said, Not(HasSubstr("no key \"a\"")));
    EXPECT_EQ(references_of({text + "data: {a: '1', b: '2'}\nbinaryData: {c: eA==}\n"}), "");
    EXPECT_EQ(references_of({text}), "") << "an empty one is filled on the device";
    EXPECT_EQ(references_of({text + "  annotations: {service.beta.openshift.io/inject-cabundle: "
                                    "'true'}\ndata: {a: '1'}\n"}),
              "");
}

TEST(PodReferencesCheckTest, ClaimsOfStatefulSetsAndClasses) {
    const std::string set = object("apps/v1", "StatefulSet", "db", "app") +
                            "spec: {volumeClaimTemplates: [{metadata: {name: data}, spec: "
                            "{storageClassName: CLASS}}]}\n";
    const std::string text =
        in_app(pod("volumes: [{name: v, persistentVolumeClaim: {claimName: data-db-0}}]")) +
        "---\n";
    const auto with = [&](const std::string& name, const std::string& more = "") {
        std::string all = set;
        return references_of({text + all.replace(all.find("CLASS"), 5, name) + more});
    };
    EXPECT_EQ(with("topolvm-provisioner"), "");
    EXPECT_EQ(with("''"), "");
    EXPECT_THAT(with("standard"), HasSubstr("no bundle has StorageClass standard"));
    EXPECT_EQ(with("fast", "---\n" + object("storage.k8s.io/v1", "StorageClass", "fast")), "");
    EXPECT_EQ(with("manual", "---\n" + object("v1", "PersistentVolume", "pv") +
                                 "spec: {storageClassName: manual}\n"),
              "");
}

TEST(PodReferencesCheckTest, ATemplateOfClaimsReplacesAVolumeOfItsName) {
    const auto with = [](const std::string& name) {
        return references_of({in_app(object("apps/v1", "StatefulSet", "db", "app") +
                                     "spec: {volumeClaimTemplates: [{metadata: {name: data}}], "
                                     "template: {spec: {containers: "
                                     "[{name: c}], volumes: [{name: " +
                                     name + ", persistentVolumeClaim: {claimName: x}}]}}}\n")});
    };
    EXPECT_EQ(with("data"), "");
    EXPECT_THAT(with("other"), HasSubstr("PersistentVolumeClaim app/x"));
}

TEST(PodReferencesCheckTest, NamespacesOfMicroShiftMayHaveAnything) {
    EXPECT_EQ(references_of({object("v1", "Namespace", "openshift-monitoring") + "---\n" +
                             object("v1", "Pod", "p", "openshift-monitoring") +
                             "spec: {serviceAccountName: x, containers: [{name: c}]}\n"}),
              "");
}

TEST(PodReferencesCheckTest, PodsOfCustomResourcesAreLeftOut) {
    EXPECT_EQ(references_of({in_app(object("example.com/v1", "App", "a", "app") +
                                    "spec: {template: {spec: {serviceAccountName: x, containers: "
                                    "[{name: c}]}}}\n")}),
              "");
}

}  // namespace
}  // namespace edgegpu::test
