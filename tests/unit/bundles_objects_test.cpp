#include "bundles/objects.hpp"

#include <gtest/gtest.h>

#include "support/error.hpp"

namespace edgegpu {
namespace {

std::string objects_failure(const std::string& rendered) {
    try {
        (void)read_objects("bundle \"app\"", rendered);
    } catch (const Error& failure) {
        EXPECT_EQ(failure.kind(), ErrorKind::usage);
        EXPECT_FALSE(failure.hint().empty());
        return failure.message();
    }
    return "none";
}

std::string an_object(const std::string& metadata, const std::string& version = "v1") {
    return "apiVersion: " + version + "\nkind: ConfigMap\nmetadata:\n  " + metadata + "\n";
}

TEST(Objects, AsValues) {
    const std::string first = an_object("name: a") + "data:\n  text: |\n    ---x\n    --- y\n";
    const std::string second = an_object("{name: a, namespace: b}");
    const std::vector<KubeObject> objects = read_objects("bundle", first + "---\n" + second);
    ASSERT_EQ(objects.size(), 2U);
    EXPECT_EQ(objects[0].api_version, "v1");
    EXPECT_EQ(objects[0].title(), "ConfigMap a");
    EXPECT_EQ(objects[0].text, first);
    EXPECT_EQ(objects[1].title(), "ConfigMap b/a");
    EXPECT_EQ(objects[1].text, second);
}

TEST(Objects, WhatCannotBeApplied) {
    EXPECT_EQ(objects_failure(""), "bundle \"app\": no object comes out of it");
    EXPECT_EQ(objects_failure("---\n---\n"), "bundle \"app\": no object comes out of it");
    EXPECT_EQ(objects_failure("kind: ConfigMap\nmetadata: {name: a}\n"),
              "bundle \"app\": object 1, a ConfigMap, has no apiVersion");
    EXPECT_EQ(objects_failure("apiVersion: v1\nmetadata: {name: a}\n"),
              "bundle \"app\": object 1 has no kind");
    EXPECT_EQ(objects_failure(an_object("name: a") + "---\n" + an_object("generateName: b")),
              "bundle \"app\": object 2, a ConfigMap, has no metadata.name");
    EXPECT_EQ(objects_failure(an_object("name: [a]")),
              "bundle \"app\": object 1, a ConfigMap, has no metadata.name");
    EXPECT_EQ(objects_failure("- a\n"), "bundle \"app\": object 1 has no apiVersion");
    EXPECT_EQ(objects_failure(an_object("name: a") + "---\n" + an_object("name: a")),
              "bundle \"app\": ConfigMap a is there twice");
    EXPECT_EQ(
        objects_failure(an_object("name: a", "x/v1") + "---\n" + an_object("name: a", "x/v2")),
        "bundle \"app\": ConfigMap a is there twice");
    EXPECT_EQ(
        objects_failure(an_object("name: a", "x/v1") + "---\n" + an_object("name: a", "y/v1")),
        "none");
}

}  // namespace
}  // namespace edgegpu
