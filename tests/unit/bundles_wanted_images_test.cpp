#include "bundles/wanted_images.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.hpp"

namespace edgegpu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string digest = "@sha256:" + std::string(64, 'a');

RenderedBundle bundle_with(const std::string& name, const std::string& text) {
    RenderedBundle bundle;
    bundle.name = name;
    bundle.text = text;
    bundle.objects = read_objects(name, text);
    return bundle;
}

std::vector<std::string> names_wanted(const std::vector<WantedImage>& images) {
    std::vector<std::string> names;
    names.reserve(images.size());
    for (const WantedImage& image : images) {
        names.push_back(image.name);
    }
    return names;
}

std::vector<WantedImage> wanted(const std::vector<std::string>& references) {
    std::vector<WantedImage> images;
    for (const std::string& reference : references) {
        add_wanted(images, {{wanted_name(reference), {"somebody"}}});
    }
    return images;
}

std::vector<ImagePattern> patterns(const std::vector<std::string>& globs) {
    std::vector<ImagePattern> result;
    result.reserve(globs.size());
    for (const std::string& glob : globs) {
        result.push_back({glob, {"b.toml", 7, 3}});
    }
    return result;
}

Error wanted_failure(const std::vector<std::string>& globs,
                     const std::vector<std::string>& references) {
    try {
        static_cast<void>(choose_images(patterns(globs), wanted(references)));
    } catch (const Error& problem) {
        return problem;
    }
    return Error("no error");
}

TEST(WantedImages, AreThoseOfContainersAndVolumesOfAllPods) {
    const RenderedBundle app = bundle_with("app", R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: x}
spec:
  template:
    spec:
      initContainers: [{name: a, image: busybox}]
      containers: [{name: b, image: quay.io/x/app:1}]
      ephemeralContainers: [{name: c, image: "quay.io/x/debug:2)" +
                                                      digest + R"("}]
      volumes: [{name: d, image: {reference: quay.io/x/data}}, {name: e, emptyDir: {}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: no-pod, namespace: x}
data: {image: quay.io/x/hidden:1}
)");
    const RenderedBundle other = bundle_with("other", R"(apiVersion: v1
kind: Pod
metadata: {name: p, namespace: y}
spec: {containers: [{name: a, image: quay.io/x/app:1}]}
)");
    const std::vector<WantedImage> images = images_wanted_by({app, other});
    EXPECT_THAT(names_wanted(images),
                ElementsAre("docker.io/library/busybox:latest", "quay.io/x/app:1",
                            "quay.io/x/data:latest", "quay.io/x/debug" + digest));
    EXPECT_THAT(images[1].wanted_by,
                ElementsAre("bundle \"app\": Deployment x/web", "bundle \"other\": Pod y/p"));
}

TEST(WantedImages, PatternsChooseAmongCompleteNames) {
    const std::vector<WantedImage> all =
        wanted({"busybox", "quay.io/x/app:1", "quay.io/y/app" + digest});
    EXPECT_THAT(names_wanted(choose_images(patterns({"*"}), all)), testing::SizeIs(3));
    EXPECT_THAT(names_wanted(choose_images(patterns({"quay.io/*"}), all)),
                ElementsAre("quay.io/x/app:1", "quay.io/y/app" + digest));
    EXPECT_THAT(names_wanted(choose_images(patterns({"*/app:?", "docker.io/library/*"}), all)),
                ElementsAre("docker.io/library/busybox:latest", "quay.io/x/app:1"));
    EXPECT_THAT(choose_images(patterns({"*"}), {}), IsEmpty()) << "true, and there are none";
    EXPECT_THAT(choose_images({}, all), IsEmpty());
}

TEST(WantedImages, APatternThatMatchesNothingIsAnErrorWithNearNames) {
    const Error typo =
        wanted_failure({"quay.io/*", "nvcr.io/nvidia/k8s-device-plugn:*"},
                       {"quay.io/x/app:1", "nvcr.io/nvidia/k8s-device-plugin:v0.17.0"});
    EXPECT_EQ(typo.kind(), ErrorKind::usage);
    EXPECT_EQ(typo.message(),
              "b.toml:7:3: embed_images: no image matches \"nvcr.io/nvidia/k8s-device-plugn:*\"");
    EXPECT_THAT(typo.hint(), HasSubstr("nvcr.io/nvidia/k8s-device-plugin"));
    // A pattern is for the whole name.
    EXPECT_THAT(wanted_failure({"quay.io/x/app"}, {"quay.io/x/app:1"}).hint(),
                HasSubstr("quay.io/x/app"));
    EXPECT_THAT(wanted_failure({"registry.example/z*"}, {"quay.io/x/app:1", "busybox"}).hint(),
                HasSubstr("the images are: docker.io/library/busybox:latest, quay.io/x/app:1"));
    EXPECT_THAT(wanted_failure({"x*"}, {}).hint(), HasSubstr("remove embed_images"));
}

TEST(WantedImages, WhatIsNoNameIsAnErrorOnlyIfItIsChosen) {
    const std::vector<std::string> references{"Quay.io/X", "$(IMAGE)", "quay.io/x/app:1"};
    EXPECT_THAT(names_wanted(choose_images(patterns({"quay.io/*"}), wanted(references))),
                ElementsAre("quay.io/x/app:1"));
    EXPECT_THAT(wanted_failure({"*"}, references).message(),
                HasSubstr("\"$(IMAGE)\" is not the name of a container image"));
}

TEST(WantedImages, WhatContainersProvideByNameIsNotLookedUpElsewhere) {
    ContainerRequest local;
    local.source = "oci:images:1";
    local.name = "quay.io/x/app:1";
    const std::vector<ContainerRequest> requests = embedding_requests(
        wanted({"quay.io/x/app:1", "quay.io/x/app:2" + digest}), {local}, {"b.toml", 7, 3});
    ASSERT_EQ(requests.size(), 1U);
    EXPECT_EQ(requests[0].source, "docker://quay.io/x/app" + digest);
    EXPECT_EQ(requests[0].located, requests[0].source);
    EXPECT_EQ(requests[0].name, "quay.io/x/app" + digest);
    EXPECT_TRUE(requests[0].tls_verify);
    EXPECT_EQ(requests[0].location.line, 7U);
}

}  // namespace
}  // namespace edgegpu
