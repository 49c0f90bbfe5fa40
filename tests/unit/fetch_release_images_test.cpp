#include "fetch/release_images.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.hpp"

namespace edgegpu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const std::string one = "quay.io/openshift/x@sha256:" + std::string(64, '1');
const std::string two = "registry.redhat.io/lvms4/y@sha256:" + std::string(64, '2');

std::string release_failure(const std::string& text) {
    try {
        static_cast<void>(parse_release_images(text, "microshift-release-info: release.json"));
    } catch (const Error& problem) {
        EXPECT_EQ(problem.kind(), ErrorKind::fetch);
        EXPECT_FALSE(problem.hint().empty());
        return problem.message();
    }
    return "no error";
}

TEST(ReleaseImages, AreTheReferencesEachOnce) {
    EXPECT_THAT(
        parse_release_images(R"({"release": {"base": "4.18.14"}, "images": {"pod": ")" + two +
                                 R"(", "cli": ")" + one + R"(", "again": ")" + one + R"("}})",
                             "x"),
        ElementsAre(one, two));
    EXPECT_THAT(parse_release_images(R"({"images": {}})", "x"), ElementsAre());
    // What has a tag as well is found by its digest.
    EXPECT_THAT(
        parse_release_images(
            R"({"images": {"a": "quay.io/x:1@sha256:)" + std::string(64, '3') + R"("}})", "x"),
        ElementsAre("quay.io/x@sha256:" + std::string(64, '3')));
}

TEST(ReleaseImages, AnythingElseIsRefused) {
    for (const char* text : {"", "{", "\xff\xfe", "{\"images\": {\"a\": 1e999}}", "{} {}"}) {
        EXPECT_THAT(release_failure(text), StartsWith("microshift-release-info: release.json: "))
            << text;
    }
    EXPECT_THAT(release_failure(std::string(100'000, '[')), HasSubstr("is not JSON"));
    EXPECT_THAT(release_failure(std::string(100'000, '[') + std::string(100'000, ']')),
                HasSubstr("has no \"images\""));
    for (const char* text : {"[]", "null", "\"images\"", "{}", R"({"images": []})",
                             R"({"images": null})", R"({"images": "quay.io/x"})"}) {
        EXPECT_THAT(release_failure(text), HasSubstr("has no \"images\"")) << text;
    }
    for (const char* value :
         {"1", "null", "[]", "{}", "\"\"", "\"quay.io/x:1\"", "\"quay.io/x@sha256:1234\"",
          "\"--help\"", "\"oci:/etc\"", "\"quay.io/x@sha512:11\"", R"("a\u0000b")",
          R"("../../x@sha256:1")"}) {
        const std::string text = std::string(R"({"images": {"evil\n\u001b[2J": )") + value + "}}";
        const std::string message = release_failure(text);
        EXPECT_THAT(message, HasSubstr("is not a reference by digest")) << value;
        EXPECT_EQ(message.find('\n'), std::string::npos) << value;
        EXPECT_EQ(message.find('\x1b'), std::string::npos) << value;
    }
    const std::string deep = std::string(500'000, '[') + std::string(500'000, ']');
    EXPECT_THAT(release_failure(R"({"images": {"a": )" + deep + "}}"),
                HasSubstr("\"a\" is not a reference by digest: array"));
    // Long ones are not shown whole.
    EXPECT_LT(release_failure(R"({"images": {"a": ")" + std::string(900'000, 'x') + "\"}}").size(),
              1000U);
}

TEST(ReleaseImages, AreLimitedInNumber) {
    std::string text = R"({"images": {)";
    for (int i = 0; i < 5000; ++i) {
        text += (i == 0 ? "\"" : ", \"") + std::to_string(i) + "\": \"" + one + '"';
    }
    EXPECT_THAT(release_failure(text + "}}"), HasSubstr("lists more than 4096 images"));
}

TEST(ReleaseImages, PackagesThatListThem) {
    for (const char* name : {"microshift-release-info", "microshift-olm-release-info"}) {
        EXPECT_TRUE(is_release_info(name)) << name;
    }
    for (const char* name :
         {"microshift", "release-info", "redhat-release-info", "microshift-olm"}) {
        EXPECT_FALSE(is_release_info(name)) << name;
    }
}

}  // namespace
}  // namespace edgegpu
