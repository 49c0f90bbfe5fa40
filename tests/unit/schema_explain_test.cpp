#include "schema/explain.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "schema/kubernetes_schemas.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

/// A Deployment that is right, to which each case does something.
json deployment_object() {
    return json::parse(R"({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"},
        "spec": {"selector": {"matchLabels": {"a": "b"}},
          "template": {"metadata": {"labels": {"a": "b"}},
                       "spec": {"containers": [{"name": "c", "image": "c"}]}}}})");
}

json secret_object() {
    return json::parse(R"({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}})");
}

json custom_resource_definition() {
    return json::parse(R"({"apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition", "metadata": {"name": "as.example.com"},
        "spec": {"group": "example.com", "names": {"kind": "A", "plural": "as"},
          "scope": "Cluster", "versions": [{"name": "v1", "served": true, "storage": true,
            "schema": {"openAPIV3Schema": {"type": "object"}}}]}})");
}

std::vector<SchemaProblem> check_object(const json& object, unsigned minor = 33) {
    return KubernetesSchemas(KubernetesVersion{minor}).check(object).problems;
}

/// What is said of an object in which the value at `pointer` is replaced by `value` (JSON).
struct BadObject {
    json object;
    const char* pointer;
    const char* value;
    const char* message;
};

}  // namespace

TEST(SchemaExplain, SaysWhatIsWrongWhere) {
    const json service = {{"apiVersion", "v1"}, {"kind", "Service"}, {"spec", json::object()}};
    const json map = {{"apiVersion", "v1"}, {"kind", "ConfigMap"}};
    const json lease = {{"apiVersion", "coordination.k8s.io/v1"}, {"kind", "Lease"}};
    const json role = {{"apiVersion", "rbac.authorization.k8s.io/v1"}, {"kind", "Role"}};
    const std::string pod = "/spec/template/spec";
    const std::string container = pod + "/containers/0";
    const std::vector<BadObject> cases = {
        // types
        {deployment_object(), "/spec/replicas", R"("three")",
         R"(spec.replicas: "three" is not an integer)"},
        {deployment_object(), "/spec/replicas", R"("3")",
         R"(spec.replicas: "3" is not an integer; write it without quotes)"},
        {deployment_object(), "/spec/replicas", "1.5", "spec.replicas: 1.5 is not an integer"},
        {deployment_object(), "/spec/replicas", "3000000000",
         "spec.replicas: 3000000000 does not fit into 32 bits"},
        {deployment_object(), "/spec/replicas", "-3000000000",
         "spec.replicas: -3000000000 does not fit into 32 bits"},
        {deployment_object(), "/spec/replicas", "18446744073709551615",
         "spec.replicas: 1.8446744073709552e+19 does not fit into 64 bits"},
        {deployment_object(), "/spec/replicas", "{}",
         "spec.replicas: a map where an integer is expected"},
        {deployment_object(), "/spec/paused", R"("true")",
         R"(spec.paused: "true" is not true or false; write it without quotes)"},
        {deployment_object(), "/metadata/labels", R"({"a/b": true})",
         R"(metadata.labels["a/b"]: true is not a string; put it in quotes)"},
        {deployment_object(), "/metadata/name", "7",
         "metadata.name: 7 is not a string; put it in quotes"},
        {deployment_object(), "/spec/template", "[]",
         "spec.template: a list where a map is expected"},
        {deployment_object(), "/spec/template", "1", "spec.template: 1 where a map is expected"},
        {deployment_object(), "/spec/template/spec/containers", R"({"name": "c"})",
         "spec.template.spec.containers: a map where a list is expected; begin each element with "
         "\"- \""},
        {deployment_object(), "/spec/template/spec/containers/0", "null",
         "spec.template.spec.containers[0]: null where a map is expected"},
        {deployment_object(), "/spec/template/spec/containers/0/args", R"(["a", 2])",
         "spec.template.spec.containers[0].args[1]: 2 is not a string; put it in quotes"},
        {deployment_object(), "/spec/template/spec/containers/0/env",
         R"([{"name": "A", "value": 1}])",
         "spec.template.spec.containers[0].env[0].value: 1 is not a string; put it in quotes"},
        {deployment_object(), "/spec/strategy", R"({"rollingUpdate": {"maxSurge": true}})",
         "spec.strategy.rollingUpdate.maxSurge: true is not a string or an integer; put it in "
         "quotes"},
        {service, "/spec/ports", R"([{"port": "http"}])",
         R"(spec.ports[0].port: "http" is not an integer)"},
        {map, "/data", R"({"port": 8080})", "data.port: 8080 is not a string; put it in quotes"},
        {map, "/data", R"([1])", "data: a list where a map is expected"},
        {role, "/rules", R"([{"verbs": "get"}])",
         R"(rules[0].verbs: "get" where a list is expected)"},
        // null: none where the field is known, a zero value in lists without keys
        {deployment_object(), "/spec/imagePullPolicy", "null",
         "spec.imagePullPolicy: unknown field"},
        // lists with keys
        {deployment_object(), "/spec/template/spec/containers/0/env",
         R"([{"name": "A", "value": "1"}, {"name": "B"}, {"name": "A"}, {"name": "A"}])",
         "spec.template.spec.containers[0].env: there is more than one element with name \"A\"; "
         "keep one of them"},
        {deployment_object(), "/spec/template/spec/containers/0/ports",
         R"([{"containerPort": 80}, {"containerPort": 80.0, "protocol": "TCP", "name": "a"}])",
         "spec.template.spec.containers[0].ports: there is more than one element with "
         "containerPort 80, protocol \"TCP\"; keep one of them"},
        {deployment_object(), "/metadata/finalizers", R"(["a/b", "a/b"])",
         "metadata.finalizers: there is more than one element with \"a/b\"; keep one of them"},
        // names
        {deployment_object(), "/metadata/name", R"("My_App")",
         "metadata.name: \"My_App\" is not a name of 1 to 253 lower-case letters, digits, \"-\" "
         "and "
         "\".\", with a letter or digit at both ends"},
        {service, "/metadata/name", R"("a.b")",
         "metadata.name: \"a.b\" is not a name of 1 to 63 lower-case letters, digits and \"-\", "
         "with a letter or digit at both ends"},
        {deployment_object(), "/spec/template/metadata/labels", R"({"app": "my app"})",
         "spec.template.metadata.labels.app: \"my app\" is not a label's value: at most 63 "
         "letters, "
         "digits, \"-\", \"_\" and \".\", with a letter or digit at both ends"},
        // required
        {deployment_object(), "/spec", "{}", "spec.selector: required|spec.template: required"},
        {deployment_object(), "/spec/selector", "null", "spec.selector: required"},
        {deployment_object(), "/spec/template/spec", "{}",
         "spec.template.spec.containers: required"},
        {deployment_object(), "/spec/template/spec/containers/1", R"({"name": "typo"})",
         "spec.template.spec.containers[1].image: required"},
        {deployment_object(), "/spec/template/spec/volumes", R"([{"hostPath": {}}])",
         "spec.template.spec.volumes[0].name: required|"
         "spec.template.spec.volumes[0].hostPath.path: required"},
        // unknown
        {deployment_object(), "/spec/template/spec/containers/0/imagePullpolicy", R"("Always")",
         "spec.template.spec.containers[0].imagePullpolicy: unknown field; did you mean "
         "\"imagePullPolicy\"?"},
        {deployment_object(), "/spec/replica", "1",
         R"(spec.replica: unknown field; did you mean "replicas"?)"},
        {deployment_object(), "/spec/containers", "[]",
         "spec.containers: unknown field; it belongs to spec.template.spec"},
        {deployment_object(), "/spec/template/spec/containers/0/nodeSelector", "{}",
         "spec.template.spec.containers[0].nodeSelector: unknown field; it belongs to "
         "spec.template.spec"},
        {deployment_object(), "/spec/template/spec/containers/0/privileged", "true",
         "spec.template.spec.containers[0].privileged: unknown field; it belongs to "
         "spec.template.spec.containers[0].securityContext"},
        {deployment_object(), "/spec/metadata", "{}",
         "spec.metadata: unknown field; it belongs to the top level"},
        {deployment_object(), "/labels", "{}", "labels: unknown field; it belongs to metadata"},
        {deployment_object(), "/spec/template/spec/hostnameOverride", R"("a")",
         "spec.template.spec.hostnameOverride: unknown field; Kubernetes 1.34 and later have it"},
        {deployment_object(), "/", "1", R"([""]: unknown field)"},
        {deployment_object(), "/spec/a~1b~0c", "1", R"(spec["a/b~c"]: unknown field)"},
        {custom_resource_definition(), "/spec/versions/0/schema/openAPIV3Schema/propertys", "{}",
         "spec.versions[0].schema.openAPIV3Schema.propertys: unknown field; did you mean "
         "\"properties\"?"},
        {custom_resource_definition(), "/spec/versions/0/schema/openAPIV3Schema/items",
         R"({"additionalProperties": {"type": 1, "x-newer": true}})",
         "spec.versions[0].schema.openAPIV3Schema.items.additionalProperties.type: 1 is not a "
         "string; put it in quotes"},
        {custom_resource_definition(), "/spec/versions/0/schema/openAPIV3Schema/properties",
         R"({"a": {"type": ["string"]}})",
         "spec.versions[0].schema.openAPIV3Schema.properties.a.type: a list where a string is "
         "expected"},
        // formats
        {deployment_object(), "/spec/template/spec/containers/0/resources",
         R"({"limits": {"memory": "1GB"}})",
         "spec.template.spec.containers[0].resources.limits.memory: \"1GB\" is not a quantity such "
         "as "
         "500m, 2 or 1Gi; did you mean 1G?"},
        {deployment_object(), "/spec/template/spec/containers/0/resources",
         R"({"limits": {"nvidia.com/gpu": "one"}})",
         "spec.template.spec.containers[0].resources.limits[\"nvidia.com/gpu\"]: \"one\" is not a "
         "quantity such as 500m, 2 or 1Gi"},
        {deployment_object(), "/spec/template/spec/containers/0/resources",
         R"({"limits": {"cpu": true}})",
         "spec.template.spec.containers[0].resources.limits.cpu: true is not a quantity; put it in "
         "quotes"},
        {lease, "/spec", R"({"renewTime": "yesterday"})",
         "spec.renewTime: \"yesterday\" is not a time such as 2025-01-31T12:00:00Z"},
        {map, "/binaryData", R"({"a": "b"})", "binaryData.a: is not base64"},
        // values of Secrets are not shown
        {secret_object(), "/data", R"({"password": "hunter2!"})",
         "data.password: is not base64; stringData takes plain text"},
        {secret_object(), "/data", R"({"pin": 1234})",
         "data.pin: a number is not a string; put it in quotes"},
        {secret_object(), "/stringData", R"("hunter2")",
         "stringData: a string where a map is expected"},
    };
    for (const BadObject& bad : cases) {
        json object = bad.object;
        object[json::json_pointer(bad.pointer)] = json::parse(bad.value);
        std::string messages;
        for (const SchemaProblem& problem : check_object(object)) {
            messages += (messages.empty() ? "" : "|") + problem.message;
        }
        EXPECT_EQ(messages, bad.message);
    }
}

TEST(SchemaExplain, PointsToThePlace) {
    json object = deployment_object();
    object["spec"]["template"]["metadata"]["labels"]["a/b~c"] = 1;
    object["spec"]["template"]["spec"]["containers"][0].erase("name");
    const std::vector<SchemaProblem> problems = check_object(object);
    ASSERT_EQ(problems.size(), 2U);
    EXPECT_EQ(problems[0].pointer, "/spec/template/metadata/labels/a~1b~0c");
    EXPECT_EQ(problems[1].pointer, "/spec/template/spec/containers/0/name");
    for (const SchemaProblem& problem : problems) {
        EXPECT_NO_THROW((void)json::json_pointer(problem.pointer));
    }
}

TEST(SchemaExplain, FieldsOfOtherVersions) {
    json object = {{"apiVersion", "resource.k8s.io/v1alpha3"},
                   {"kind", "ResourceClaim"},
                   {"spec", {{"controller", "a"}}}};
    const std::vector<SchemaProblem> problems = check_object(object, 32);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].message,
              "spec.controller: unknown field; Kubernetes 1.32 no longer has it");
    EXPECT_TRUE(check_object(object, 31).empty());
}

TEST(SchemaExplain, IndexesAreSortedByValue) {
    json object = deployment_object();
    json& containers = object["spec"]["template"]["spec"]["containers"];
    for (int i = 1; i < 12; ++i) {
        const json name = i == 2 || i == 11 ? json(i) : json("c" + std::to_string(i));
        containers.push_back({{"name", name}, {"image", "c"}});
    }
    const std::vector<SchemaProblem> problems = check_object(object);
    ASSERT_EQ(problems.size(), 2U);
    EXPECT_EQ(problems[0].pointer, "/spec/template/spec/containers/2/name");
    EXPECT_EQ(problems[1].pointer, "/spec/template/spec/containers/11/name");
}

TEST(SchemaExplain, ManyProblemsAreCut) {
    json object = deployment_object();
    for (int i = 0; i < 1000; ++i) {
        object["spec"]["unknown" + std::to_string(i)] = i;
        object["metadata"]["labels"][std::to_string(i)] = i;
    }
    const std::vector<SchemaProblem> problems = check_object(object);
    ASSERT_EQ(problems.size(), max_problems + 1);
    EXPECT_EQ(problems.back().message, "there are more problems");
}

}  // namespace edgegpu
