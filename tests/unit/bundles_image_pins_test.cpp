#include "bundles/image_pins.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bundles/pods.hpp"
#include "bundles_fixture.hpp"

namespace edgegpu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

const std::string one(64, '1');
const std::string two(64, '2');

ImagePins pins_of(const std::vector<std::string>& references,
                  const std::map<std::string, std::string>& digests) {
    std::string text = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: x}\nspec:\n";
    text += "  containers:\n";
    for (std::size_t i = 0; i < references.size(); ++i) {
        text += "    - {name: c" + std::to_string(i) + ", image: \"" + references[i] + "\"}\n";
    }
    return image_pins(read_objects("x", text), digests);
}

TEST(ImagePins, AreForReferencesWithoutDigestThatAreInTheCommit) {
    EXPECT_THAT(
        pins_of({"quay.io/x/app:1", "quay.io/x/app:2", "busybox", "quay.io/x/other:1",
                 "quay.io/x/tool:3@sha256:" + two},
                {{"quay.io/x/app:1", one},
                 {"quay.io/x/app:2", two},
                 {"docker.io/library/busybox:latest", two},
                 {"quay.io/x/tool@sha256:" + two, two}}),
        ElementsAre(Pair("busybox", "sha256:" + two), Pair("quay.io/x/app:1", "sha256:" + one),
                    Pair("quay.io/x/app:2", "sha256:" + two)));
    EXPECT_THAT(pins_of({"quay.io/x/app:1"}, {}), IsEmpty());
}

TEST(ImagePins, OneWithoutTagDoesNotChangeOthersOfItsRepository) {
    const std::map<std::string, std::string> digests{{"localhost:5000/x:latest", one},
                                                     {"localhost:5000/x:2", two}};
    EXPECT_THAT(pins_of({"localhost:5000/x", "localhost:5000/x:2"}, digests),
                ElementsAre(Pair("localhost:5000/x:2", "sha256:" + two)));
    EXPECT_THAT(pins_of({"localhost:5000/x", "localhost:5000/xy:2"}, digests),
                ElementsAre(Pair("localhost:5000/x", "sha256:" + one)));
}

class PinnedBundles : public test::OwnPath {
protected:
    /// Rendered with pins for quay.io/x/app:1 and busybox.
    static RenderedBundle pinned(const BundleRequest& request) {
        return pin_bundles({}, {request}, render_bundles({}, {request}),
                           {{"quay.io/x/app:1", one}, {"docker.io/library/busybox:latest", two}})
            .front();
    }
};

TEST_F(PinnedBundles, AreGeneratedWithDigestsInPlaceOfTags) {
    link_real_kustomize();
    const test::TemporaryDirectory work;
    write_file(work.path() / "kustomization.yaml", "resources: [a.yaml]\n");
    write_file(work.path() / "a.yaml", R"(apiVersion: v1
kind: Pod
metadata: {name: p, namespace: x}
spec:
  initContainers: [{name: a, image: busybox}]
  containers: [{name: b, image: "quay.io/x/app:1"}, {name: c, image: "quay.io/x/app:12"}]
)");
    BundleRequest request;
    request.name = "app";
    request.source = work.path();
    request.location = {"b.toml", 3, 1};
    const RenderedBundle bundle = pinned(request);
    EXPECT_THAT(images_of(bundle.objects), ElementsAre("busybox@sha256:" + two, "quay.io/x/app:12",
                                                       "quay.io/x/app@sha256:" + one));
    EXPECT_TRUE(bundle.files.files.contains("base/a.yaml")) << "the user's files are still there";

    // A bundle without such images stays as it is; a change of the blueprint's comes first.
    write_file(work.path() / "a.yaml",
               "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: x}\n"
               "spec: {containers: [{name: b, image: 'quay.io/y/app:9'}]}\n");
    EXPECT_TRUE(pinned(request).files.files.contains("a.yaml"));
    request.images.push_back({"quay.io/y/app", "quay.io/x/app", "1", "", {"b.toml", 4, 1}});
    EXPECT_THAT(images_of(pinned(request).objects), ElementsAre("quay.io/x/app@sha256:" + one));
}

}  // namespace
}  // namespace edgegpu
