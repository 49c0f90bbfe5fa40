#include "customise/images/image_store.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "image_fixture.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"

namespace edgegpu {
namespace {

using nlohmann::json;
using test::tar_archive;

const std::string place = "/usr/share/containers/storage";

class ImageStoreTest : public test::ImageTest {
protected:
    json stored(const std::string& name) const {
        return json::parse(read_entry(tree, place + '/' + name));
    }
    const std::string layer_ = tar_archive({{.name = "etc/x", .content = "x"}});
};

TEST_F(ImageStoreTest, HasIndexesManifestsAndOneLayer) {
    StoredImage one = image({layer_});
    one.index = R"({"manifests": []})";
    one.index_digest = sha256_hex(one.index);
    add_images(ctx, {one}, place, tree);

    const json images = stored("overlay-images/images.json");
    ASSERT_EQ(images.size(), 1U);
    const std::string id = sha256_hex(one.config);
    EXPECT_EQ(images[0]["id"], id);
    EXPECT_EQ(images[0]["digest"], "sha256:" + one.digest);
    EXPECT_EQ(images[0]["names"], json({"quay.io/x/app:1"}));
    EXPECT_EQ(images[0]["created"], "2024-01-01T00:00:00Z");
    // Both digests find it: of the manifest, and of the index that a tag refers to.
    const json& digests = images[0]["big-data-digests"];
    EXPECT_EQ(digests["manifest-sha256:" + one.digest], "sha256:" + one.digest);
    EXPECT_EQ(digests["manifest-sha256:" + one.index_digest], "sha256:" + one.index_digest);
    EXPECT_EQ(images[0]["big-data-sizes"]["manifest"], one.manifest.size());
    EXPECT_EQ(read_entry(tree, place + "/overlay-images/" + id + "/manifest"), one.manifest);

    const json layers = stored("overlay-layers/layers.json");
    ASSERT_EQ(layers.size(), 1U);
    const std::string layer = layers[0]["id"];
    EXPECT_EQ(images[0]["layer"], layer);
    EXPECT_EQ(layers[0]["diff-size"], 1U);
    const std::string link = read_entry(tree, place + "/overlay/" + layer + "/link");
    EXPECT_EQ(link.size(), 26U);
    EXPECT_EQ(tree.entries.at(place + "/overlay/l/" + link).target, "../" + layer + "/diff");
    EXPECT_EQ(tree.entries.at(place + "/overlay/" + layer + "/diff/etc/x").size, 1U);
    EXPECT_EQ(tree.entries.at(place + "/overlay/" + layer + "/diff").type, EntryType::directory);
}

TEST_F(ImageStoreTest, KeysAreFileNamesAsContainersStorageEncodesThem) {
    const StoredImage one = image({layer_});
    add_images(ctx, {one}, place, tree);
    const std::string directory = place + "/overlay-images/" + sha256_hex(one.config) + '/';
    std::vector<std::string> names;
    for (const auto& [path, entry] : entries_with_prefix(tree.entries, directory)) {
        names.push_back(path.substr(directory.size(), 14));
    }
    // base64 of "manifest-s" and "sha256:"; what follows are digits of the digests
    EXPECT_EQ(names, (std::vector<std::string>{"=bWFuaWZlc3Qtc", names.at(1), "manifest"}));
    EXPECT_TRUE(names.at(1).starts_with("=c2hhMjU2O")) << names.at(1);
}

TEST_F(ImageStoreTest, TheOrderOfImagesMakesNoDifference) {
    const StoredImage one = image({layer_});
    const StoredImage two =
        image({layer_, tar_archive({{.name = "y"}})}, "quay.io/x/other:2", "2025-01-01T00:00:00Z");
    Tree other = tree;
    add_images(ctx, {one, two}, place, tree);
    add_images(ctx, {two, one}, place, other);
    ASSERT_EQ(tree.entries.size(), other.entries.size());
    for (const auto& [path, entry] : tree.entries) {
        ASSERT_TRUE(other.entries.contains(path)) << path;
        EXPECT_EQ(entry.digest, other.entries.at(path).digest) << path;
    }
    EXPECT_EQ(stored("overlay-layers/layers.json").size(), 2U);
}

TEST_F(ImageStoreTest, OneImageWithTwoNamesIsThereOnce) {
    const StoredImage one = image({layer_});
    StoredImage alias = one;
    alias.names = {"quay.io/x/alias:1"};
    add_images(ctx, {one, alias}, place, tree);
    const json images = stored("overlay-images/images.json");
    ASSERT_EQ(images.size(), 1U);
    EXPECT_EQ(images[0]["names"], json({"quay.io/x/alias:1", "quay.io/x/app:1"}));
    EXPECT_EQ(stored("overlay-layers/layers.json").size(), 1U);
}

TEST_F(ImageStoreTest, AStoreOfAnOverlayIsAnError) {
    file(place + "/overlay-images/images.json", "[]");
    try {
        add_images(ctx, {image({layer_})}, place, tree);
        FAIL();
    } catch (const Error& problem) {
        EXPECT_EQ(problem.kind(), ErrorKind::usage);
        EXPECT_NE(problem.message().find(place), std::string::npos);
        EXPECT_NE(problem.hint(), "");
    }
}

TEST_F(ImageStoreTest, WithoutImagesNothingIsAdded) {
    const std::size_t before = tree.entries.size();
    add_images(ctx, {}, "", tree);
    EXPECT_EQ(tree.entries.size(), before);
}

}  // namespace
}  // namespace edgegpu
