#include "bundles/objects.hpp"

#include <gtest/gtest.h>

#include "support/error.hpp"

namespace edgegpu {
namespace {

std::string objects_failure(const std::string& rendered) {
    try {
        (void)read_objects("bundle \"app\"", rendered);
    } catch (const Error& failure) {
        EXPECT_EQ(failure.kind(), ErrorKind::usage);
        EXPECT_FALSE(failure.hint().empty());
        return failure.message();
    }
    return "none";
}

std::string an_object(const std::string& metadata, const std::string& version = "v1") {
    return "apiVersion: " + version + "\nkind: ConfigMap\nmetadata:\n  " + metadata + "\n";
}

TEST(Objects, AsValues) {
    const std::string first = an_object("name: a") + "data:\n  text: |\n    ---x\n    --- y\n";
    const std::string second = an_object("{name: a, namespace: b}");
    const std::vector<KubeObject> objects = read_objects("bundle", first + "---\n" + second);
    ASSERT_EQ(objects.size(), 2U);
    EXPECT_EQ(objects[0].api_version, "v1");
    EXPECT_EQ(objects[0].title(), "ConfigMap a");
    EXPECT_EQ(objects[0].text, first);
    EXPECT_EQ(objects[1].title(), "ConfigMap b/a");
    EXPECT_EQ(objects[1].text, second);
}

TEST(Objects, WhatCannotBeApplied) {
    EXPECT_EQ(objects_failure(""), "bundle \"app\": no object comes out of it");
    EXPECT_EQ(objects_failure("---\n---\n"), "bundle \"app\": no object comes out of it");
    EXPECT_EQ(objects_failure("kind: ConfigMap\nmetadata: {name: a}\n"),
              "bundle \"app\": object 1, a ConfigMap, has no apiVersion");
    EXPECT_EQ(objects_failure("apiVersion: v1\nmetadata: {name: a}\n"),
              "bundle \"app\": object 1 has no kind");
    EXPECT_EQ(objects_failure(an_object("name: a") + "---\n" + an_object("generateName: b")),
              "bundle \"app\": object 2, a ConfigMap, has no metadata.name");
    EXPECT_EQ(objects_failure(an_object("name: [a]")),
              "bundle \"app\": object 1, a ConfigMap, has no metadata.name");
    EXPECT_EQ(objects_failure("- a\n"), "bundle \"app\": object 1 has no apiVersion");
    EXPECT_EQ(objects_failure(an_object("name: a") + "---\n" + an_object("name: a")),
              "bundle \"app\": ConfigMap a is there twice");
    EXPECT_EQ(
        objects_failure(an_object("name: a", "x/v1") + "---\n" + an_object("name: a", "x/v2")),
        "bundle \"app\": ConfigMap a is there twice");
    EXPECT_EQ(
        objects_failure(an_object("name: a", "x/v1") + "---\n" + an_object("name: a", "y/v1")),
        "none");
}

TEST(Objects, ImagesAndGpusOfPods) {
    const std::vector<KubeObject> objects = read_objects("bundle", R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  initContainers:
  - image: init:1
    resources: {limits: {nvidia.com/gpu: 3, cpu: 8}}
  containers:
  - image: one:1
    resources: {limits: {nvidia.com/gpu: "1", memory: 1Gi}}
  - image: one:1
    resources: {limits: {nvidia.com/gpu: 1, nvidia.com/mig-1g.10gb: 1}}
  ephemeralContainers:
  - image: debug:1
  volumes:
  - name: x
    image: {reference: volume:1}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: b}
spec:
  replicas: 2
  template:
    spec:
      containers:
      - image: two:1
        resources: {limits: {nvidia.com/gpu: 2}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: c}
spec:
  jobTemplate:
    spec:
      parallelism: 5
      template:
        spec:
          containers:
          - image: three:1
            resources: {limits: {nvidia.com/gpu: 1}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  replicas: 0
  template:
    spec:
      containers:
      - image: four:1
        resources: {limits: {nvidia.com/gpu: x, amd.com/gpu: 1}}
)");
    EXPECT_EQ(images_of(objects), (std::vector<std::string>{"debug:1", "four:1", "init:1", "one:1",
                                                            "three:1", "two:1", "volume:1"}));
    EXPECT_EQ(extended_resources_of(objects),
              (std::map<std::string, std::uint64_t>{{"nvidia.com/gpu", 3 + 4 + 5},
                                                    {"nvidia.com/mig-1g.10gb", 1}}));
}

TEST(Objects, PodsOfOddShapes) {
    const std::vector<KubeObject> objects = read_objects(
        "bundle", an_object("name: a") +
                      "spec: {replicas: 99999999999999999999, containers: none}\n---\n" +
                      an_object("name: b") + "containers: [1, {image: [x]}, {resources: []}]\n" +
                      "initContainers: {}\nvolumes: x\n");
    EXPECT_TRUE(images_of(objects).empty());
    EXPECT_TRUE(extended_resources_of(objects).empty());
}

}  // namespace
}  // namespace edgegpu
