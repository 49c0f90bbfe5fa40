#include "oci/manifest.hpp"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/error.hpp"

namespace edgegpu {
namespace {

std::string blob(char digit, int size) {
    return fmt::format(R"({{"mediaType": "m", "digest": "sha256:{}", "size": {}}})",
                       std::string(64, digit), size);
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
          {std::string(largest_manifest + 1, ' '), "larger than 4 MiB"}}) {
        const std::string message = manifest_failure(text);
        EXPECT_TRUE(message.starts_with("image quay.io/a:1: ")) << message;
        EXPECT_NE(message.find(reason), std::string::npos) << message;
    }
}

TEST(ImageManifest, DeepNestingIsNoCrash) {
    EXPECT_NE(manifest_failure(std::string(100000, '[')), "no error");
}

TEST(ImageConfig, TimesThatEnginesWouldNotReadAreLeftOut) {
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
                                     {"yesterday", false}}) {
        const ImageConfig config = parse_image_config(
            fmt::format(R"({{"architecture": "amd64", "os": "linux", "created": "{}"}})", time),
            "x");
        EXPECT_EQ(config.created, read ? time : "") << time;
    }
    EXPECT_THROW(static_cast<void>(parse_image_config("{}", "x")), Error);
}

TEST(ImageConfig, ArchitecturesHaveGosNames) {
    EXPECT_EQ(image_architecture("x86_64"), "amd64");
    EXPECT_EQ(image_architecture("aarch64"), "arm64");
    EXPECT_EQ(image_architecture("s390x"), "s390x");
}

}  // namespace
}  // namespace edgegpu
