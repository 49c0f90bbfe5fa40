#include "oci/manifest.hpp"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/error.hpp"

namespace edgegpu {
namespace {

std::string blob(char digit, int size) {
    return fmt::format(R"({{"digest": "sha256:{}", "size": {}}})", std::string(64, digit), size);
}

std::string manifest_failure(const std::string& text) {
    try {
        static_cast<void>(parse_manifest(text, "quay.io/a:1"));
    } catch (const Error& problem) {
        EXPECT_EQ(problem.kind(), ErrorKind::fetch);
        EXPECT_NE(problem.hint(), "");
        return problem.message();
    }
    return "no error";
}

TEST(ImageManifest, HasAConfigurationAndLayers) {
    const ImageDocument document =
        parse_manifest(fmt::format(R"({{"schemaVersion": 2, "config": {}, "layers": [{}, {}]}})",
                                   blob('a', 1), blob('b', 2), blob('c', 3)),
                       "x");
    EXPECT_FALSE(document.is_index());
    EXPECT_EQ(document.config.digest, std::string(64, 'a'));
    ASSERT_EQ(document.layers.size(), 2U);
    EXPECT_EQ(document.layers[1].size, 3U);
}

TEST(ImageManifest, AnIndexHasOneForEachArchitecture) {
    const ImageDocument document = parse_manifest(
        fmt::format(R"({{"schemaVersion": 2, "manifests": [{{"digest": "sha256:{}", "size": 1,
                    "platform": {{"os": "linux", "architecture": "arm64", "variant": "v8"}}}}]}})",
                    std::string(64, 'a')),
        "x");
    ASSERT_TRUE(document.is_index());
    EXPECT_EQ(document.index[0].architecture, "arm64");
    EXPECT_EQ(document.index[0].manifest.digest, std::string(64, 'a'));
}

TEST(ImageManifest, WhatIsNoneIsAnErrorWithItsName) {
    for (const auto& [text, reason] :
         {std::pair<std::string, std::string>{"", "its manifest is not a JSON object"},
          {"[]", "its manifest is not a JSON object"},
          {R"({"schemaVersion": 1})", "neither a manifest nor an index"},
          {R"({"manifests": []})", "its index lists no manifests"},
          {R"({"manifests": {}})", "its index lists no manifests"},
          {R"({"schemaVersion": 2, "config": 1, "layers": []})", "not an object"},
          {fmt::format(R"({{"schemaVersion": 2, "config": {}, "layers": {{}}}})", blob('a', 1)),
           "neither a manifest nor an index"},
          {fmt::format(R"({{"schemaVersion": 2, "config": {}, "layers": [{}]}})", blob('a', 1),
                       blob('A', 1)),
           "not a SHA-256"},
          {fmt::format(R"({{"schemaVersion": 2, "config": {}, "layers": [{}]}})", blob('a', 1),
                       blob('b', -1)),
           "without a size"},
          {fmt::format(R"({{"schemaVersion": 2, "config": {}, "layers": [{}]}})", blob('a', 1),
                       R"({"digest": "sha256:)" + std::string(64, 'b') +
                           R"(", "size": 1, "urls": ["http://127.0.0.1/"]})"),
           "not in its registry"},
          {fmt::format(R"({{"schemaVersion": 2, "config": {}, "layers": [{}]}})", blob('a', 1),
                       R"({"mediaType": "application/vnd.oci.image.layer.v1.tar+encrypted",
                           "digest": "sha256:)" +
                           std::string(64, 'b') + R"(", "size": 1})"),
           "encrypted"},
          {fmt::format(R"({{"schemaVersion": 2, "config": {}, "layers": []}})",
                       R"({"mediaType": "application/vnd.cncf.helm.config.v1+json",
                           "digest": "sha256:)" +
                           std::string(64, 'b') + R"(", "size": 1})"),
           "is an artifact"},
          {fmt::format(
               R"({{"schemaVersion": 2, "config": {}, "layers": [{}, {}]}})", blob('a', 1),
               R"({"digest": "sha256:)" + std::string(64, 'b') + R"(", "size": 68719476736})",
               blob('c', 1)),
           "more than 64 GiB"},
          {fmt::format(R"({{"schemaVersion": 2, "config": {}, "layers": [{}]}})", blob('a', 1),
                       R"({"digest": "sha256:)" + std::string(64, 'b') +
                           R"(", "size": 18446744073709551615})"),
           "more than 64 GiB"},
          {std::string(largest_manifest + 1, ' '), "larger than 4 MiB"}}) {
        const std::string message = manifest_failure(text);
        EXPECT_TRUE(message.starts_with("image quay.io/a:1: ")) << message;
        EXPECT_NE(message.find(reason), std::string::npos) << message;
    }
}

TEST(ImageManifest, DeepNestingIsNoCrash) {
    EXPECT_NE(manifest_failure(std::string(100000, '[')), "no error");
}

/// A configuration of two layers, with more fields.
std::string config_of(const std::string& more, const std::string& ids) {
    return fmt::format(
        R"({{"architecture": "amd64", "os": "linux"{}{}, "rootfs": {{"diff_ids": [{}]}}}})",
        more.empty() ? "" : ", ", more, ids);
}

std::string two_ids() {
    return fmt::format(R"("sha256:{}", "sha256:{}")", std::string(64, 'b'), std::string(64, 'c'));
}

ImageConfig parsed(const std::string& text) {
    ImageDocument document;
    document.config.size = text.size();
    document.layers.resize(2);
    return parse_image_config(text, document, "quay.io/a:1");
}

std::string config_failure(const std::string& text) {
    try {
        static_cast<void>(parsed(text));
    } catch (const Error& problem) {
        EXPECT_EQ(problem.kind(), ErrorKind::fetch);
        EXPECT_NE(problem.hint(), "");
        EXPECT_TRUE(problem.message().starts_with("image quay.io/a:1: ")) << problem.message();
        return problem.message();
    }
    return "no error";
}

TEST(ImageConfig, TimesAreThoseThatEnginesRead) {
    for (const auto& [time, read] : {std::pair{"2024-01-01T00:00:00Z", true},
                                     {"2024-02-29T23:59:59.123456789-23:59", true},
                                     {"2023-02-29T00:00:00Z", false},
                                     {"2024-99-99T00:00:00Z", false},
                                     {"2024-00-01T00:00:00Z", false},
                                     {"2024-01-01T24:00:00Z", false},
                                     {"2024-01-01T00:60:00Z", false},
                                     {"2024-01-01T00:00:60Z", false},
                                     {"2024-01-01T00:00:00+24:00", false},
                                     {"2024-01-01T00:00:00.123456789+01:00", true},
                                     {"2024-01-01", false},
                                     {"2024-01-01T00:00:00", false},
                                     {"2024-01-01T00:00:00.Z", false},
                                     {"", false},
                                     {"yesterday", false}}) {
        const std::string text = config_of(fmt::format(R"("created": "{}")", time), two_ids());
        if (read) {
            EXPECT_EQ(parsed(text).created, time);
        } else {
            EXPECT_NE(config_failure(text).find("\"created\" is not a time"), std::string::npos);
        }
    }
    EXPECT_EQ(parsed(config_of(R"("created": null)", two_ids())).created, "");
    EXPECT_NE(config_failure("{}"), "no error");
}

// What podman and CRI-O say of such a configuration: "json: cannot unmarshal string into Go struct
// field ImageConfig.config.Env of type []string".
TEST(ImageConfig, FieldsHaveTheTypesThatEnginesRead) {
    for (const auto& [more, place] :
         {std::pair<std::string, std::string>{R"("author": 1)", "author"},
          {R"("variant": [])", "variant"},
          {R"("config": [])", "config"},
          {R"("config": {"Env": "x"})", "config.Env"},
          {R"("config": {"Env": [1]})", "config.Env"},
          {R"("config": {"Cmd": "x"})", "config.Cmd"},
          {R"("config": {"User": 1})", "config.User"},
          {R"("config": {"Volumes": []})", "config.Volumes"},
          {R"("config": {"ExposedPorts": []})", "config.ExposedPorts"},
          {R"("config": {"Labels": {"a": 1}})", "config.Labels"},
          {R"("config": {"StopSignal": 9})", "config.StopSignal"},
          {R"("history": {})", "history"},
          {R"("history": [1])", "history"},
          {R"("history": [{"created": "x"}])", "history.created"},
          {R"("history": [{"empty_layer": "x"}])", "history.empty_layer"}}) {
        const std::string message = config_failure(config_of(more, two_ids()));
        EXPECT_NE(message.find('"' + place + "\" is not "), std::string::npos) << message;
    }
    EXPECT_EQ(parsed(config_of(R"("author": null, "config": {"Env": null, "Labels": {"a": "b"},
                                   "Volumes": {"/x": {}}}, "history": [{"empty_layer": true}])",
                               two_ids()))
                  .diff_ids.size(),
              2U);
}

TEST(ImageConfig, HasAsManyLayersAsTheManifest) {
    const std::string id = fmt::format(R"("sha256:{}")", std::string(64, 'b'));
    EXPECT_EQ(parsed(config_of("", two_ids())).diff_ids[1], std::string(64, 'c'));
    EXPECT_NE(config_failure(config_of("", "")).find("0 layers (diff_ids), its manifest 2 layers"),
              std::string::npos);
    EXPECT_NE(config_failure(config_of("", id)).find("1 layer (diff_id)"), std::string::npos);
    EXPECT_NE(config_failure(config_of("", id + ',' + id + ',' + id)).find("3 layers"),
              std::string::npos);
    EXPECT_NE(config_failure(config_of("", id + R"(, "x")")).find("not a SHA-256"),
              std::string::npos);
    EXPECT_NE(config_failure(config_of("", id + ", null")).find("not a SHA-256"),
              std::string::npos);
    EXPECT_NE(config_failure(R"({"architecture": "amd64"})").find("0 layers"), std::string::npos);
    ImageDocument document;
    document.config.size = 1;
    EXPECT_THROW(static_cast<void>(parse_image_config(config_of("", ""), document, "x")), Error);
}

TEST(ImageConfig, ArchitecturesHaveGosNames) {
    EXPECT_EQ(image_architecture("x86_64"), "amd64");
    EXPECT_EQ(image_architecture("aarch64"), "arm64");
    EXPECT_EQ(image_architecture("s390x"), "s390x");
}

}  // namespace
}  // namespace edgegpu
