#include "schema/kubernetes_schemas.hpp"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/error.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

KubernetesSchemas& schemas_of(unsigned minor) {
    static std::map<unsigned, KubernetesSchemas> kept;
    auto found = kept.find(minor);
    if (found == kept.end()) {
        found = kept.emplace(minor, KubernetesSchemas(KubernetesVersion{minor})).first;
    }
    return found->second;
}

std::string problems_of(const json& object, unsigned minor = 33) {
    std::string text;
    for (const SchemaProblem& problem : schemas_of(minor).check(object).problems) {
        text += problem.message + "\n";
    }
    return text;
}

/// One object of each kind, as small as the API server takes it, and with fields of every sort.
const std::vector<std::string>& good_objects() {
    static const std::vector<std::string> objects = {
        R"({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a",
            "labels": {"pod-security.kubernetes.io/enforce": "privileged"}}})",
        R"({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a"},
            "automountServiceAccountToken": false, "imagePullSecrets": [{"name": "b"}]})",
        R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "immutable": true,
            "data": {"config.yaml": "version: v1\n"}, "binaryData": {"b": "AAEC\nAw=="}})",
        R"({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "type": "Opaque",
            "data": {"a": "YQ=="}, "stringData": {"b": "plain"}})",
        R"({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": {
            "selector": {"app": "a"}, "ports": [{"port": 80, "targetPort": "http"},
                                                {"name": "b", "port": 81, "targetPort": 8081}]}})",
        R"({"apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": "a"},
            "subsets": [{"addresses": [{"ip": "10.0.0.1"}], "ports": [{"port": 80}]}]})",
        R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "creationTimestamp": null},
            "spec": {"restartPolicy": "Never", "runtimeClassName": "nvidia",
              "securityContext": {"runAsUser": 65534, "fsGroup": 9223372036854775807},
              "initContainers": [{"name": "i", "image": "i"}],
              "containers": [{"name": "c", "image": "c", "command": ["a"], "args": [],
                "env": [{"name": "A", "value": "1"},
                        {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
                "resources": {"limits": {"nvidia.com/gpu": 1, "memory": "1.5Gi", "cpu": 0.5},
                              "requests": {"cpu": "100m", "memory": "1e9"}},
                "livenessProbe": {"httpGet": {"path": "/", "port": "http"}, "periodSeconds": 3.0},
                "volumeMounts": [{"name": "v", "mountPath": "/v", "readOnly": true}]}],
              "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
              "volumes": [{"name": "v", "emptyDir": {}}, {"name": "h",
                "hostPath": {"path": "/var/lib/kubelet/device-plugins", "type": null}}]},
            "status": {}})",
        R"({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "a"},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}})",
        R"({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "a"}, "spec": {
            "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
            "hostPath": {"path": "/data"}}})",
        R"({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "a"},
            "spec": {"limits": [{"type": "Container", "default": {"cpu": 1}}]}})",
        R"({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "a"},
            "spec": {"hard": {"requests.nvidia.com/gpu": "4", "pods": 10}}})",
        R"({"apiVersion": "v1", "kind": "ReplicationController", "metadata": {"name": "a"},
            "spec": {"template": {"metadata": {"labels": {"a": "b"}},
                                  "spec": {"containers": [{"name": "c", "image": "c"}]}}}})",
        R"({"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "a"},
            "template": {"spec": {"containers": [{"name": "c", "image": "c"}]}}})",
        R"({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"},
            "spec": {"replicas": 1, "selector": {"matchLabels": {"a": "b"}},
              "strategy": {"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 0}},
              "template": {"metadata": {"labels": {"a": "b"}, "annotations": null},
                           "spec": {"containers": [{"name": "c", "image": "c"}]}}}})",
        R"({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "a"},
            "spec": {"selector": {"matchExpressions": [{"key": "a", "operator": "Exists"}]},
              "template": {"metadata": {"labels": {"a": "b"}},
                           "spec": {"containers": [{"name": "c", "image": "c"}]}}}})",
        R"({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "a"},
            "spec": {"selector": {"matchLabels": {"a": "b"}},
              "template": {"metadata": {"labels": {"a": "b"}},
                           "spec": {"containers": [{"name": "c", "image": "c"}]}},
              "volumeClaimTemplates": [{"metadata": {"name": "d"}, "spec": {
                "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": 1}}}}]}})",
        R"({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "a"},
            "spec": {"selector": {"matchLabels": {"a": "b"}}}})",
        R"({"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": {"name": "a"},
            "data": {"anything": [1, {"b": null}]}})",
        R"({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"},
            "spec": {"backoffLimit": 0, "template": {"spec": {"restartPolicy": "Never",
              "containers": [{"name": "c", "image": "c"}]}}}})",
        R"({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"},
            "spec": {"podFailurePolicy": {}, "template": {"spec": {"restartPolicy": "Never",
              "tolerations": [{"operator": "Exists"}, {"operator": "Exists"}],
              "containers": [{"name": "c", "image": "c", "args": [null, "a", "a"],
                "ports": [{"containerPort": 53}, {"containerPort": 53, "protocol": "UDP"}]}]}}}})",
        R"({"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "a"},
            "spec": {"schedule": "@daily", "jobTemplate": {"spec": {"template": {"spec": {
              "restartPolicy": "Never", "containers": [{"name": "c", "image": "c"}]}}}}}})",
        R"({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "a"}, "spec": {"maxReplicas": 2,
              "scaleTargetRef": {"kind": "Deployment", "name": "a"},
              "metrics": [{"type": "Resource", "resource": {"name": "cpu",
                "target": {"type": "Utilization", "averageUtilization": 50}}}]}})",
        R"({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "A_b"},
            "spec": {"minAvailable": "50%", "selector": {}}})",
        R"({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "a"},
            "spec": {"ingress": [{"ports": [{"port": "http"}, {"port": 80, "endPort": 90}]}]}})",
        R"({"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "a"},
            "spec": {"rules": [{"http": {"paths": [{"path": "/", "pathType": "Prefix",
              "backend": {"service": {"name": "a", "port": {"number": 80}}}}]}}]}})",
        R"({"apiVersion": "networking.k8s.io/v1", "kind": "IngressClass", "metadata": {"name": "a"},
            "spec": {"controller": "example.com/c"}})",
        R"({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "system:A_b"},
            "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]})",
        R"({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": "a"}, "rules": [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}],
            "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}})",
        R"({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
            "metadata": {"name": "a"}, "roleRef": {"kind": "Role", "name": "a"},
            "subjects": [{"kind": "ServiceAccount", "name": "a", "namespace": "b"}]})",
        R"({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": {"name": "a"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole", "name": "a"}})",
        R"({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "a"},
            "provisioner": "topolvm.io", "parameters": {"a": "b"}, "allowVolumeExpansion": true})",
        R"({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "a"},
            "globalDefault": false, "value": -2147483648})",
        R"({"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "nvidia"},
            "handler": "nvidia"})",
        R"({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "a"},
            "spec": {"renewTime": "2025-01-31T12:00:00.123456Z", "leaseDurationSeconds": 15}})",
        R"({"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": {"name": "a"},
            "addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.1"]}]})",
        R"({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": "a"}, "webhooks": [{"name": "a.example.com", "sideEffects": "None",
              "admissionReviewVersions": ["v1"], "clientConfig": {"caBundle": ""}}]})",
        R"({"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
            "metadata": {"name": "v1.a.example"}, "spec": {"groupPriorityMinimum": 1,
            "versionPriority": 1}})",
        R"({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "as.example.com"}, "spec": {"group": "example.com",
              "names": {"kind": "A", "plural": "as"}, "scope": "Namespaced",
              "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
                "openAPIV3Schema": {"type": "object", "properties": {"$ref": {"type": "string"},
                  "id": {"type": "integer", "format": "int64", "default": 3, "enum": [1, "a", {}]},
                  "spec": {"type": "object", "additionalProperties": {"type": "array",
                    "items": {"x-kubernetes-preserve-unknown-fields": true}}},
                  "list": {"type": "array", "items": {"type": "object", "x-newer": 1,
                    "properties": {"a": {"type": "string", "x-newer": 1}}}},
                  "free": {"type": "object", "additionalProperties": true}}}}}]},
            "status": {"conditions": [], "acceptedNames": {"kind": "", "plural": ""},
                       "storedVersions": []}})",
    };
    return objects;
}

}  // namespace

TEST(KubernetesSchemas, AcceptGoodObjectsInEveryVersion) {
    const KubernetesRange versions = KubernetesSchemas::shipped_versions();
    EXPECT_EQ(versions.first.text(), "1.27");
    for (unsigned minor = versions.first.minor; minor <= versions.last.minor; ++minor) {
        for (const std::string& text : good_objects()) {
            EXPECT_EQ(problems_of(json::parse(text), minor), "") << minor << ": " << text;
        }
    }
}

TEST(KubernetesSchemas, UnknownFieldsAtTheTopAreProblemsOfEveryKind) {
    for (const std::string& text : good_objects()) {
        json object = json::parse(text);
        object["zzzzzz"] = 1;
        EXPECT_EQ(problems_of(object), "zzzzzz: unknown field\n") << text;
    }
}

TEST(KubernetesSchemas, CustomResourcesAreLeftToOthers) {
    for (const char* api : {"example.com/v1", "security.openshift.io/v1", "nvidia.com/v1",
                            "snapshot.storage.k8s.io/v1", "nfd.k8s-sigs.io/v1alpha1"}) {
        const SchemaCheck check =
            schemas_of(33).check({{"apiVersion", api}, {"kind", "Anything"}, {"spec", {{"a", 1}}}});
        EXPECT_EQ(check.origin, KindOrigin::custom_resource) << api;
        EXPECT_TRUE(check.problems.empty()) << api;
        EXPECT_FALSE(schemas_of(33).scope_of(api, "Anything"));
    }
    EXPECT_EQ(schemas_of(33).check(json::parse(good_objects().front())).origin,
              KindOrigin::kubernetes);
}

TEST(KubernetesSchemas, KnowWhatBelongsToNamespaces) {
    const KubernetesSchemas& schemas = schemas_of(33);
    EXPECT_EQ(schemas.scope_of("apps/v1", "DaemonSet"), KindScope::namespaced);
    EXPECT_EQ(schemas.scope_of("v1", "ConfigMap"), KindScope::namespaced);
    EXPECT_EQ(schemas.scope_of("v1", "Namespace"), KindScope::cluster);
    EXPECT_EQ(schemas.scope_of("node.k8s.io/v1", "RuntimeClass"), KindScope::cluster);
    EXPECT_FALSE(schemas.scope_of("extensions/v1beta1", "Deployment"));
}

TEST(KubernetesSchemas, RefuseVersionsWithoutSchemas) {
    for (const unsigned minor : {26U, 99U}) {
        try {
            const KubernetesSchemas schemas(KubernetesVersion{minor});
            ADD_FAILURE() << minor;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::usage);
            EXPECT_EQ(error.message(),
                      "edgegpu has no schemas of Kubernetes 1." + std::to_string(minor));
            EXPECT_TRUE(error.hint().starts_with("it has the schemas of 1.27 to 1."));
        }
    }
}

TEST(KubernetesSchemas, ValuesThatAreNoObjects) {
    EXPECT_EQ(problems_of(nullptr), "an object is expected\n");
    EXPECT_EQ(problems_of(json::array()), "an object is expected\n");
    EXPECT_EQ(problems_of(3), "an object is expected\n");
    EXPECT_EQ(problems_of(json::object()), "apiVersion: required\nkind: required\n");
    EXPECT_EQ(problems_of({{"apiVersion", 1}, {"kind", ""}}),
              "apiVersion: a string is expected\nkind: a string is expected\n");
    EXPECT_EQ(problems_of({{"apiVersion", "v1"}, {"kind", nullptr}}), "kind: required\n");
}

}  // namespace edgegpu
