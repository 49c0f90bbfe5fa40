#include "bundles/checks/schema_check.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.hpp"

namespace edgegpu {
namespace {

using testing::HasSubstr;

/// A bundle whose only file is what kustomize prints.
RenderedBundle bundle_of(const std::string& text, const std::string& source) {
    return {"b",
            {"b", "/home/user/b", {"b.toml", 3, 12}, {{"a.yaml", source}}},
            text,
            read_objects("bundle b", text)};
}

std::string problems_of(const RenderedBundle& bundle, KubernetesVersion version) {
    try {
        Mistakes mistakes;
        Findings findings(mistakes);
        const std::vector<RenderedBundle> bundles{bundle};
        check_schemas(objects_of(bundles), version, findings);
        mistakes.throw_any("");
    } catch (const Error& failure) {
        EXPECT_EQ(failure.kind(), ErrorKind::usage);
        return failure.render();
    }
    return "";
}

const std::string config_map = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n";

TEST(SchemaCheckTest, AGoodObject) {
    EXPECT_EQ(problems_of(bundle_of(config_map + "data: {a: \"1\"}\n", ""), {31}), "");
}

TEST(SchemaCheckTest, AProblemHasItsPlaceInTheBundlesFile) {
    const std::string text = config_map + "data:\n  a: 1\n  b/c: yes\n";
    const std::string said = problems_of(bundle_of(text, "---\n# first\n" + text), {31});
    EXPECT_THAT(said, HasSubstr("/home/user/b/a.yaml:8:6: ConfigMap a: data.a: "));
    EXPECT_THAT(said, HasSubstr("/home/user/b/a.yaml:9:8: ConfigMap a: data[\"b/c\"]: "));
    EXPECT_THAT(said, HasSubstr("in bundle \"b\" of b.toml:3:12"));
    EXPECT_THAT(said, HasSubstr("Kubernetes 1.31"));
}

TEST(SchemaCheckTest, AnObjectThatNoFileHasIsNamedWithItsBundle) {
    const std::string text = config_map + "dta: {}\n";
    for (const std::string& source :
         {std::string(), std::string("name: a\n{["), config_map + "x: y: z\n"}) {
        EXPECT_THAT(problems_of(bundle_of(text, source), {31}),
                    HasSubstr("b.toml:3:12: bundle \"b\": ConfigMap a: dta: unknown field"))
            << source;
    }
}

TEST(SchemaCheckTest, WhatTheFileDoesNotHaveIsSaidOfWhatContainsIt) {
    const std::string pod =
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  containers:\n    - name: c\n";
    const std::string said =
        problems_of(bundle_of(pod + "      tty: maybe\n", pod + "      image: x\n"), {31});
    EXPECT_THAT(said, HasSubstr("/home/user/b/a.yaml:7:7: Pod a: spec.containers[0].tty: "));
}

TEST(SchemaCheckTest, CustomResourcesAreNotChecked) {
    EXPECT_EQ(problems_of(bundle_of("apiVersion: nvidia.com/v1\nkind: ClusterPolicy\nmetadata:\n  "
                                    "name: a\nspec: {anything: 1}\n",
                                    ""),
                          {31}),
              "");
}

}  // namespace
}  // namespace edgegpu
