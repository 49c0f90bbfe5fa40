#include "resolve/stage/workload_image.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.hpp"

namespace edgegpu {
namespace {

using testing::HasSubstr;

const std::string index_digest(64, 'a');
const std::string manifest_digest(64, 'b');

Blueprint with_workload_image(const std::string& name) {
    Blueprint blueprint;
    blueprint.gpu_health.emplace();
    blueprint.gpu_health->workload_image = name;
    blueprint.gpu_health->workload_image_location = {"b.toml", 4, 18};
    return blueprint;
}

std::vector<ResolvedImage> two_images() {
    return {{"docker://quay.io/x/cuda:12", "quay.io/x/cuda:12", index_digest, manifest_digest},
            {"oci:images/app:1", "localhost/app:1", manifest_digest, manifest_digest}};
}

std::string refusal(const Blueprint& blueprint, const std::vector<ResolvedImage>& images) {
    try {
        return check_workload_image(blueprint, images).value_or("");
    } catch (const Error& error) {
        return error.render();
    }
}

TEST(WorkloadImage, IsFoundByTheNamesThatEnginesHave) {
    for (const std::string& name :
         {std::string("quay.io/x/cuda:12"), std::string("localhost/app:1"),
          "quay.io/x/cuda@sha256:" + index_digest, "quay.io/x/cuda@sha256:" + manifest_digest}) {
        EXPECT_EQ(refusal(with_workload_image(name), two_images()), "") << name;
    }
    EXPECT_EQ(refusal(with_workload_image(""), two_images()), "");
    EXPECT_EQ(refusal({}, two_images()), "");
    std::vector<ResolvedImage> by_digest = two_images();
    by_digest[0].name = "quay.io/x/cuda@sha256:" + index_digest;
    EXPECT_EQ(refusal(with_workload_image("quay.io/x/cuda@sha256:" + manifest_digest), by_digest),
              "");
}

TEST(WorkloadImage, AnotherIsRefusedWithTheNamesThatThereAre) {
    for (const std::string& name :
         {std::string("quay.io/x/cuda:13"), std::string("quay.io/y/cuda:12"),
          "quay.io/x/cuda@sha256:" + std::string(64, 'c'), "quay.io/y/cuda@sha256:" + index_digest,
          "localhost/app@sha256:" + index_digest}) {
        EXPECT_EQ(refusal(with_workload_image(name), two_images()),
                  "error: b.toml:4:18: workload_image " + name +
                      " is none of the container images that this image has: quay.io/x/cuda:12, "
                      "localhost/app:1\nhint: add it as [[containers]], or name one of these: "
                      "gpu-health pulls nothing\n");
    }
    std::vector<ResolvedImage> many(13, two_images()[0]);
    EXPECT_THAT(refusal(with_workload_image("quay.io/x/cuda:13"), many),
                HasSubstr("quay.io/x/cuda:12 and 3 more\n"));
}

TEST(WorkloadImage, WithoutAnyImageItIsAWarning) {
    EXPECT_THAT(refusal(with_workload_image("quay.io/x/cuda:12"), {}),
                testing::AllOf(testing::StartsWith("b.toml:4:18: this image has no container"),
                               HasSubstr("nobody has brought quay.io/x/cuda:12"),
                               HasSubstr("add it as [[containers]]")));
    EXPECT_EQ(refusal(with_workload_image(""), {}), "");
    Blueprint filled_by_overlay = with_workload_image("quay.io/x/cuda:12");
    filled_by_overlay.container_store = "/usr/share/images";
    EXPECT_EQ(refusal(filled_by_overlay, {}), "");
    filled_by_overlay.gpu_health->workload_image = "quay.io/x/cuda:13";
    EXPECT_THAT(refusal(filled_by_overlay, two_images()), HasSubstr("is none of the container"));
}

TEST(WorkloadImage, WhatOnlyAResolutionKnowsIsNotCheckedBefore) {
    const std::string by_digest = "quay.io/x/cuda@sha256:" + index_digest;
    Blueprint blueprint = with_workload_image(by_digest);
    EXPECT_TRUE(check_workload_image(blueprint)) << "no images at all";
    blueprint.containers.push_back({"docker://quay.io/x/app:1", "", "quay.io/x/app:1", true, {}});
    EXPECT_FALSE(check_workload_image(blueprint));
    blueprint.gpu_health->workload_image = "quay.io/x/app:1";
    EXPECT_FALSE(check_workload_image(blueprint));
    blueprint.gpu_health->workload_image = "quay.io/x/app:2";
    EXPECT_THROW(static_cast<void>(check_workload_image(blueprint)), Error);
    blueprint.microshift.embed_images.push_back({});
    EXPECT_FALSE(check_workload_image(blueprint));
    EXPECT_FALSE(check_workload_image(Blueprint{}));
}

}  // namespace
}  // namespace edgegpu
