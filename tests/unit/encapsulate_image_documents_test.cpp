#include "encapsulate/image_documents.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/commit_fixture.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"

namespace edgegpu {
namespace {

using nlohmann::json;

std::vector<NamedLayer> two_layers() {
    return {{{"commit", {"unpackaged"}}, {std::string(64, 'a'), std::string(64, 'b'), 10, 100}},
            {{"packages 03", {"bash", "z\xff"}},
             {std::string(64, 'c'), std::string(64, 'd'), 20, 200}}};
}

TEST(ImageDocuments, AreThoseOfTheFormat) {
    test::CommitFixture fixture;
    fixture.blueprint.architecture = "aarch64";
    const Commit commit = fixture.build();
    const RepositoryView repository(fixture.repo());
    const ContainerFacts facts = read_container_facts(repository.open(commit.checksum));
    const std::string text = image_config_json(facts, two_layers());
    const json config = json::parse(text);
    EXPECT_EQ(config["architecture"], "arm64");
    EXPECT_EQ(config["os"], "linux");
    EXPECT_EQ(config["created"], "2023-11-14T22:13:20Z");
    EXPECT_EQ(config["config"]["Cmd"], json({"/sbin/init"}));
    EXPECT_EQ(config["rootfs"]["type"], "layers");
    EXPECT_EQ(config["rootfs"]["diff_ids"],
              json({"sha256:" + std::string(64, 'b'), "sha256:" + std::string(64, 'd')}));
    ASSERT_EQ(config["history"].size(), 2U);
    EXPECT_EQ(config["history"][0]["created_by"], "test 1.2.3");
    EXPECT_EQ(config["history"][1]["created_by"], "packages 03");
    const json labels{{"containers.bootc", "1"},
                      {"org.opencontainers.image.version", "1.2.3"},
                      {"ostree.bootable", "true"},
                      {"ostree.commit", commit.checksum},
                      {"ostree.final-diffid", "sha256:" + std::string(64, 'd')},
                      {"ostree.linux", "6.1.0-50-amd64"},
                      {"version", "1.2.3"}};
    EXPECT_EQ(config["config"]["Labels"], labels);

    const std::string manifest_text = image_manifest_json(facts, text, two_layers());
    const json manifest = json::parse(manifest_text);
    EXPECT_EQ(manifest["schemaVersion"], 2);
    EXPECT_EQ(manifest["annotations"], labels);
    EXPECT_EQ(manifest["config"]["digest"], "sha256:" + sha256_hex(text));
    EXPECT_EQ(manifest["config"]["size"], text.size());
    ASSERT_EQ(manifest["layers"].size(), 2U);
    EXPECT_FALSE(manifest["layers"][0]["annotations"].contains("ostree.components"));
    EXPECT_EQ(manifest["layers"][1]["annotations"]["ostree.components"], "bash,z\xef\xbf\xbd");
    EXPECT_EQ(manifest["layers"][1]["mediaType"], "application/vnd.oci.image.layer.v1.tar+gzip");
    EXPECT_EQ(manifest["layers"][1]["size"], 20);

    const json index = json::parse(image_index_json(facts, manifest_text, "1.2"));
    EXPECT_EQ(index["manifests"][0]["digest"], "sha256:" + sha256_hex(manifest_text));
    EXPECT_EQ(index["manifests"][0]["annotations"]["org.opencontainers.image.ref.name"], "1.2");

    // The first layer's content changes with every version: nothing of it is kept.
    EXPECT_EQ(earlier_layers(manifest_text, "x"),
              (EarlierLayers{{"packages 03", {"bash", "z\xef\xbf\xbd"}}}));
}

TEST(ImageDocuments, AnEarlierImageMayBeAnything) {
    for (const char* text : {"", "[]", "{}", R"({"layers": 3})", "\xff", R"({"manifests": []})"}) {
        EXPECT_THROW(static_cast<void>(earlier_layers(text, "x")), Error) << text;
    }
    for (const char* text :
         {R"({"layers": []})", R"({"layers": [3, {}, {"annotations": 7}]})",
          R"({"layers": [{"annotations": {"edgegpu.layer": 1, "ostree.components": []}}]})",
          R"({"layers": [{"annotations": {"ostree.components": "a,b"}}]})"}) {
        EXPECT_EQ(earlier_layers(text, "x"), EarlierLayers()) << text;
    }
}

}  // namespace
}  // namespace edgegpu
