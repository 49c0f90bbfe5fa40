#include "bundles/image_pins.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace edgegpu
