#include "bundles/pods.hpp"

#include <gtest/gtest.h>

namespace edgegpu {
namespace {

std::string a_config_map(const std::string& name) {
    return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n";
}

TEST(Pods, ImagesAndGpusOfPods) {
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

TEST(Pods, PodsOfOddShapes) {
    const std::vector<KubeObject> objects = read_objects(
        "bundle", a_config_map("a") +
                      "spec: {replicas: 99999999999999999999, containers: none}\n---\n" +
                      a_config_map("b") + "containers: [1, {image: [x]}, {resources: []}]\n" +
                      "initContainers: {}\nvolumes: x\n");
    EXPECT_TRUE(images_of(objects).empty());
    EXPECT_TRUE(extended_resources_of(objects).empty());
}

TEST(Pods, WhereTheyAre) {
    const std::vector<KubeObject> objects = read_objects("bundle", R"(apiVersion: example.com/v1
kind: Farm
metadata: {name: a}
spec:
  replicas: 3
  parts:
  - "a/b~c":
      metadata: {labels: {app: x}}
      spec:
        containers:
        - {name: one, image: "one:1"}
        - {name: none}
        initContainers:
        - {name: first, image: "first:1"}
        volumes:
        - {name: disk, emptyDir: {}}
        - {name: data, image: {reference: "data:1"}}
---
apiVersion: v1
kind: PodList
metadata: {name: none}
items: []
)");
    const std::vector<PodTemplate> pods = pods_of(objects);
    ASSERT_EQ(pods.size(), 1U);
    EXPECT_EQ(pods[0].pointer, "/spec/parts/0/a~1b~0c/spec");
    EXPECT_EQ(pods[0].count, 3U);
    EXPECT_EQ(pods[0].where.object, &objects[0]);
    EXPECT_EQ(text_in(*pods[0].metadata, {"labels", "app"}), "x");
    const std::vector<PodContainer> containers = containers_of(pods[0]);
    ASSERT_EQ(containers.size(), 3U);
    EXPECT_EQ(containers[0].pointer, "/spec/parts/0/a~1b~0c/spec/initContainers/0");
    EXPECT_EQ(containers[2].list, "containers");
    const std::vector<PodImage> images = images_of(pods[0]);
    ASSERT_EQ(images.size(), 3U);
    EXPECT_EQ(images[1].pointer, "/spec/parts/0/a~1b~0c/spec/containers/0/image");
    EXPECT_NE(images[1].container, nullptr);
    EXPECT_EQ(images[2].pointer, "/spec/parts/0/a~1b~0c/spec/volumes/1/image/reference");
    EXPECT_EQ(images[2].container, nullptr);
}

TEST(Pods, ContainersThatRunAtOnce) {
    const auto wanted = [](const std::string& init, const std::string& main) {
        const std::vector<KubeObject> objects = read_objects(
            "bundle", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  initContainers: [" +
                          init + "]\n  containers: [" + main + "]\n");
        return extended_resources_of(pods_of(objects).at(0))["x.com/gpu"];
    };
    const auto container = [](int gpus, const std::string& more = "") {
        return "{resources: {limits: {x.com/gpu: " + std::to_string(gpus) + "}}" + more + "}";
    };
    const std::string sidecar = container(2, ", restartPolicy: Always");
    EXPECT_EQ(wanted("", container(1) + ',' + container(1)), 2U);
    EXPECT_EQ(wanted(container(3) + ',' + container(3), container(1)), 3U);
    EXPECT_EQ(wanted(sidecar, container(1)), 3U);
    EXPECT_EQ(wanted(sidecar + ',' + container(4), container(1)), 6U);
    EXPECT_EQ(wanted(container(4) + ',' + sidecar, container(1)), 4U);
}

TEST(Pods, WholeQuantities) {
    for (const auto& [text, value] :
         std::vector<std::pair<std::string, std::uint64_t>>{{"0", 0},
                                                            {"2", 2},
                                                            {"+2", 2},
                                                            {"2.0", 2},
                                                            {"2000m", 2},
                                                            {"0.5k", 500},
                                                            {"2e0", 2},
                                                            {"1Ki", 1024},
                                                            {"2E0", 2},
                                                            {"1E", 1'000'000},
                                                            {"1e300", 1'000'000}}) {
        EXPECT_EQ(whole_quantity(text), value) << text;
    }
    for (const char* text :
         {"", "0.5", "500m", "-1", "x", "inf", "nan", "1 ", "1x", "1e999", "."}) {
        EXPECT_EQ(whole_quantity(text), std::nullopt) << text;
    }
}

}  // namespace
}  // namespace edgegpu
