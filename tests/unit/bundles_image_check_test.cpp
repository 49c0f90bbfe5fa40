#include "bundles/checks/image_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bundles_check_fixture.hpp"

namespace edgegpu::test {
namespace {

using testing::HasSubstr;

std::string pod_with(const std::string& image, const std::string& more = "",
                     const std::string& metadata = "") {
    return "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n" + metadata +
           "spec:\n  containers:\n  - name: main\n    image: \"" + image + "\"\n" + more;
}

std::string image_findings(const std::string& text, const ImageFacts& facts = closed_image()) {
    return text_of_findings(check_images, text, facts);
}

const std::string gpu_limit = "    resources: {limits: {nvidia.com/gpu: 1}}\n";

ImageFacts with_driver(const std::string& driver, std::vector<std::string> devices = {}) {
    ImageFacts facts = closed_image();
    facts.driver = driver;
    facts.devices = std::move(devices);
    return facts;
}

TEST(ImageCheck, TagsAndDigests) {
    const std::string sha = std::string(64, 'a');
    for (const std::string& image :
         {std::string("quay.io/x/app:1.4"), "quay.io/x/app@sha256:" + sha,
          "quay.io/x/app:latest@sha256:" + sha, "localhost:5000/app:1@sha256:" + sha,
          "app@sha512:" + sha + sha, std::string("x/app:latest-ubi9")}) {
        EXPECT_EQ(image_findings(pod_with(image)), "") << image;
    }
    const std::string untagged = image_findings(pod_with("localhost:5000/app"));
    EXPECT_THAT(untagged, HasSubstr("/home/user/b/a.yaml:8:12: Pod a: image \"localhost:5000/app\" "
                                    "has neither tag nor digest"));
    EXPECT_THAT(untagged, HasSubstr("localhost:5000/app:VERSION"));
    EXPECT_THAT(image_findings(pod_with("busybox:latest")),
                HasSubstr("what \"latest\" is depends on"));
}

TEST(ImageCheck, MalformedNames) {
    for (const char* image : {"https://quay.io/x/app:1", "quay.io/x/App:1", "app:",
                              "app:1@sha256:x", "app:a b", "-app:1", "app::1", "x//app:1"}) {
        EXPECT_THAT(image_findings(pod_with(image)), HasSubstr("is not the name of an image"))
            << image;
    }
    EXPECT_THAT(image_findings(pod_with("quay.io/x/App:1")), HasSubstr("lower case"));
    EXPECT_THAT(image_findings(pod_with("docker://x/app:1")), HasSubstr("has no \"https://\""));
}

TEST(ImageCheck, OnlyWorkloadsOfKubernetes) {
    EXPECT_EQ(image_findings("apiVersion: example.com/v1\nkind: Farm\nmetadata: {name: a}\n"
                             "spec: {containers: [{image: \"{{ inputs.image }}\"}]}\n"),
              "");
    EXPECT_EQ(image_findings(
                  pod_with("auto", "", "  annotations: {inject.istio.io/templates: gateway}\n")),
              "");
    EXPECT_NE(image_findings(pod_with("auto")), "");
}

TEST(ImageCheck, Architectures) {
    EXPECT_THAT(image_findings(pod_with("x/app:1.4-arm64")),
                HasSubstr("\"x/app:1.4-arm64\" is for aarch64 by its name, and the devices are "
                          "x86_64"));
    EXPECT_NE(image_findings(pod_with("x/app-ppc64le:1.4")), "");
    for (const char* image :
         {"x/app:1.4-amd64", "x/app-x86_64:1", "x/app:charm64", "multiarch/qemu:x86_64-aarch64",
          "dockcross/linux-arm64:1", "x/gcc-aarch64:12", "x/app:1-arm64-debug"}) {
        EXPECT_EQ(image_findings(pod_with(image)), "") << image;
    }
    EXPECT_EQ(
        image_findings(pod_with("x/app:1-arm64", "  nodeSelector: {kubernetes.io/arch: arm64}\n")),
        "")
        << "one of several";
    ImageFacts facts = closed_image();
    facts.architecture = "aarch64";
    EXPECT_EQ(image_findings(pod_with("x/app:1.4-arm64"), facts), "");
    EXPECT_EQ(image_findings(pod_with("x/app:1.4-arm64"), facts_without_blueprint()), "");
}

TEST(ImageCheck, CudaAndTheDriver) {
    const std::string pod = pod_with("nvidia/cuda:12.5.0-base-ubi9", gpu_limit);
    const std::string said = image_findings(pod, with_driver("470.256.02"));
    EXPECT_THAT(said, HasSubstr("has CUDA 12.5, which needs driver branch 525 or newer, and the "
                                "image has 470.256.02"));
    EXPECT_THAT(said, HasSubstr("name the GPUs in [nvidia] devices"));
    EXPECT_NE(image_findings(pod, with_driver("470", {"10de:2204"})), "") << "GeForce RTX 3090";
    EXPECT_EQ(image_findings(pod, with_driver("470", {"10de:1eb8"})), "")
        << "T4: forward compatibility";
    EXPECT_EQ(image_findings(pod, with_driver("535")), "") << "minor version compatibility";
    EXPECT_EQ(image_findings(pod, with_driver("")), "");
    EXPECT_EQ(image_findings(pod_with("nvidia/cuda:12.5.0-base-ubi9"), with_driver("470")), "")
        << "no GPU";
    EXPECT_NE(image_findings(pod_with("nvidia/cuda:13.0.1-base", gpu_limit), with_driver("570")),
              "");
    EXPECT_EQ(image_findings(pod_with("nvidia/cuda:10.2-base", gpu_limit), with_driver("580")), "");
}

}  // namespace
}  // namespace edgegpu::test
