#include "bundles/checks/known_objects.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bundles/checks/bindings_check.hpp"
#include "bundles/checks/checks.hpp"
#include "bundles/checks/custom_resources_check.hpp"
#include "bundles/checks/names_check.hpp"
#include "bundles/checks/namespaces_check.hpp"
#include "bundles/checks/pod_references_check.hpp"
#include "bundles/checks/pod_structure_check.hpp"
#include "bundles/checks/services_check.hpp"
#include "bundles_check_fixture.hpp"

namespace edgegpu::test {
namespace {

using testing::HasSubstr;

TEST(KnownObjectsTest, NamespacesOfObjects) {
    const std::vector<RenderedBundle> bundles = bundles_of(
        {object("v1", "ConfigMap", "a") + "---\n" + object("v1", "ConfigMap", "b", "app") +
         "---\n" + object("v1", "Node", "c", "app") + "---\n" +
         object("example.com/v1", "Widget", "d", "app") + "---\n" +
         object("example.com/v1", "Gadget", "e") + "---\n" +
         object("example.com/v1", "Gizmo", "f", "app") + "---\n" +
         object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "gizmos.example.com") +
         "spec: {group: example.com, scope: Cluster, names: {kind: Gizmo}}\n"});
    const std::vector<BundleObject> objects = objects_of(bundles);
    const ImageFacts facts = plain_facts();
    const KnownObjects known(objects, facts);
    std::vector<std::string> namespaces;
    namespaces.reserve(objects.size());
    for (const BundleObject& each : objects) {
        namespaces.push_back(known.namespace_of(*each.object));
    }
    EXPECT_EQ(namespaces, (std::vector<std::string>{"default", "app", "", "app", "", "", ""}));
    EXPECT_TRUE(known.is_custom(*objects[3].object));
    EXPECT_FALSE(known.is_custom(*objects[6].object));
    EXPECT_NE(known.find(referred::config_map, "default", "a"), nullptr);
    EXPECT_EQ(known.find(referred::config_map, "", "a"), nullptr);
    EXPECT_EQ(known.find(referred::secret, "default", "a"), nullptr);
    EXPECT_EQ(known.all_of(referred::config_map, "app").size(), 1U);
}

/// Objects with everything that the checks read.
const std::string rich =
    "apiVersion: v1\nkind: Namespace\nmetadata: {name: app}\n---\n"
    "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: s, namespace: app, labels: {a: b}}\n"
    "spec:\n  selector: {matchLabels: {a: b}, matchExpressions: [{key: a, operator: In, values: "
    "[b]}]}\n"
    "  volumeClaimTemplates: [{metadata: {name: d}, spec: {storageClassName: x}}]\n"
    "  template:\n    metadata: {labels: {a: b}, annotations: {c: d}}\n    spec:\n"
    "      serviceAccountName: x\n      priorityClassName: x\n"
    "      volumes: [{name: v, configMap: {name: m, items: [{key: k, path: p}]}}, {name: w, "
    "projected: {sources: [{secret: {name: t}}]}}, {name: y, persistentVolumeClaim: {claimName: "
    "z}}]\n"
    "      containers: [{name: c, image: i, env: [{name: E, valueFrom: {secretKeyRef: {name: t, "
    "key: k}}}], envFrom: [{configMapRef: {name: m}}], volumeMounts: [{name: v, mountPath: /v}], "
    "ports: [{name: http, containerPort: 80}]}]\n---\n"
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, namespace: app}\ndata: {k: v}\n---\n"
    "apiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: app}\nspec: {selector: {a: b}, "
    "ports: [{name: http, port: 80, targetPort: http}]}\n---\n"
    "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: i, namespace: app}\nspec: "
    "{defaultBackend: {service: {name: s, port: {name: http}}}, rules: [{http: {paths: [{backend: "
    "{service: {name: s, port: {number: 80}}}}]}}]}\n---\n"
    "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: r, namespace: app}\n"
    "rules: [{apiGroups: [''], resources: [secrets], resourceNames: [t], verbs: [get]}]\n---\n"
    "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: r, namespace: "
    "app}\nroleRef: {kind: Role, name: r}\nsubjects: [{kind: ServiceAccount, name: x, namespace: "
    "app}]\n---\n"
    "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: "
    "ws.example.com}\nspec: {group: example.com, scope: Namespaced, names: {kind: W, plural: ws}, "
    "versions: [{name: v1, served: true}], conversion: {webhook: {clientConfig: {service: {name: "
    "s, namespace: app, port: 80}}}}}\n---\n"
    "apiVersion: example.com/v1\nkind: W\nmetadata: {name: w, namespace: app}\nspec: {a: [b]}\n"
    "---\n"
    "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: h, namespace: "
    "app}\nspec: {scaleTargetRef: {apiVersion: apps/v1, kind: StatefulSet, name: s}}\n";

/// Replaces the node `number`, in the order of the document; false if there are fewer.
// NOLINTNEXTLINE(misc-no-recursion): YAML has at most 100 levels
bool replace_node(nlohmann::json& node, std::size_t& number, const nlohmann::json& with) {
    if (number-- == 0) {
        node = with;
        return true;
    }
    return node.is_structured() && std::any_of(node.begin(), node.end(), [&](nlohmann::json& item) {
               return replace_node(item, number, with);
           });
}

TEST(KnownObjectsTest, ValuesOfAnyShapeAreSurvived) {
    const std::vector<RenderedBundle> good = bundles_of({rich});
    const auto odd =
        nlohmann::json::parse(R"([null, [[]], {"a": {}}, [{"name": ["x"]}, "a", null]])");
    unsigned changes = 0;
    std::size_t found = 0;
    for (std::size_t which = 0; which < good.front().objects.size(); ++which) {
        for (std::size_t number = 0;; ++number) {
            std::vector<RenderedBundle> bundles = good;
            std::size_t left = number;
            if (!replace_node(bundles.front().objects[which].content, left,
                              odd[number % odd.size()])) {
                break;
            }
            ++changes;
            // Without the schemas, which refuse nearly all of this.
            const std::vector<BundleObject> objects = objects_of(bundles);
            const ImageFacts facts = plain_facts();
            const KnownObjects known(objects, facts);
            const std::vector<PodTemplate> pods = pods_of(objects);
            Mistakes mistakes;
            Findings findings(mistakes);
            check_names_and_labels(known, pods, findings);
            check_duplicates(known, findings);
            check_namespaces(known, findings);
            check_custom_resources(known, findings);
            check_pod_structure(known, pods, findings);
            check_pod_references(known, pods, findings);
            check_storage_classes(known, findings);
            check_services(known, pods, findings);
            check_service_references(known, findings);
            check_bindings(known, findings);
            found += mistakes.count();
        }
    }
    EXPECT_GT(changes, 150U);
    EXPECT_GT(found, changes);
}

TEST(KnownObjectsTest, AllChecksAreMade) {
    try {
        check_bundles(bundles_of({rich}), plain_facts());
        ADD_FAILURE() << "no mistake";
    } catch (const Error& failure) {
        for (const char* text :
             {"no bundle has ServiceAccount app/x", "no bundle has PriorityClass x",
              "no bundle has StorageClass x", "no bundle has PersistentVolumeClaim app/z"}) {
            EXPECT_THAT(failure.render(), HasSubstr(text));
        }
    }
}

}  // namespace
}  // namespace edgegpu::test
