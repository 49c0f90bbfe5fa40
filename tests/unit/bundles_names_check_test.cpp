#include "bundles/checks/names_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bundles_check_fixture.hpp"

namespace edgegpu::test {
namespace {

using testing::HasSubstr;

std::string names_of(const std::string& text, const ImageFacts& facts = plain_facts()) {
    return said_of({text}, check_names_and_labels, facts);
}

TEST(NamesCheckTest, NamesByKind) {
    const std::string long_name(254, 'a');
    EXPECT_EQ(names_of(object("v1", "ConfigMap", "a.b-c.1")), "");
    EXPECT_THAT(names_of(object("v1", "ConfigMap", "Upper")),
                HasSubstr("/a.yaml:4:9: ConfigMap Upper: the API server refuses the name"));
    for (const std::string& name : {std::string("a_b"), std::string("'-a'"), std::string("a..b"),
                                    std::string("a."), std::string("a/b"), long_name}) {
        EXPECT_NE(names_of(object("v1", "ConfigMap", name)), "") << name;
    }
    EXPECT_EQ(names_of(object("v1", "ConfigMap", std::string(253, 'a'))), "");
    EXPECT_NE(names_of(object("v1", "Namespace", "a.b")), "");
    EXPECT_NE(names_of(object("v1", "Namespace", std::string(64, 'a'))), "");
    EXPECT_NE(names_of(object("v1", "Service", "1st")), "");
    ImageFacts newer = plain_facts();
    newer.kubernetes = {34};
    EXPECT_EQ(names_of(object("v1", "Service", "1st"), newer), "");
    EXPECT_EQ(names_of(object("rbac.authorization.k8s.io/v1", "ClusterRole", "'system:A_b'")), "");
    EXPECT_NE(names_of(object("rbac.authorization.k8s.io/v1", "ClusterRole", "a/b")), "");
    EXPECT_NE(names_of(object("batch/v1", "CronJob", std::string(53, 'a'))), "");
    EXPECT_EQ(names_of(object("batch/v1", "CronJob", std::string(52, 'a'))), "");
}

TEST(NamesCheckTest, LabelsAndAnnotations) {
    const auto labels = [](const std::string& text) {
        return names_of(object("v1", "ConfigMap", "a") + "  labels: {" + text + "}\n");
    };
    EXPECT_EQ(labels("app.kubernetes.io/name: A.b_c-1, b: ''"), "");
    EXPECT_THAT(labels("a: 'b c'"),
                HasSubstr("/a.yaml:5:15: ConfigMap a: \"b c\" is not a valid value of a label"));
    EXPECT_THAT(labels("a: " + std::string(64, 'x')), HasSubstr("is not a valid value"));
    EXPECT_THAT(labels("a: -x"), HasSubstr("is not a valid value"));
    EXPECT_THAT(labels("a/b/c: x"), HasSubstr("is not a valid key of a label"));
    EXPECT_THAT(labels("Example.com/a: x"), HasSubstr("is not a valid key of a label"));
    EXPECT_THAT(labels("'': x"), HasSubstr("is not a valid key of a label"));
    const auto annotations = [](const std::string& text) {
        return names_of(object("v1", "ConfigMap", "a") + "  annotations: {" + text + "}\n");
    };
    EXPECT_EQ(annotations("Example.com/a: 'any text!'"), "");
    EXPECT_THAT(annotations("a b: x"), HasSubstr("is not a valid key of an annotation"));
    EXPECT_EQ(annotations("a: " + std::string((256 << 10) - 1, 'x')), "");
    EXPECT_THAT(annotations("a: " + std::string(256 << 10, 'x')), HasSubstr("262145 bytes"));
}

TEST(NamesCheckTest, LabelsOfTemplates) {
    EXPECT_THAT(names_of(object("apps/v1", "Deployment", "d") +
                         "spec: {template: {metadata: {labels: {a: b c}}, spec: {containers: "
                         "[{name: c}]}}}\n"),
                HasSubstr("/a.yaml:5:42: Deployment d: \"b c\" is not a valid value of a label"));
}

TEST(NamesCheckTest, KeysAndSizesOfData) {
    const auto map = [](const std::string& data) {
        return names_of(object("v1", "ConfigMap", "a") + data);
    };
    EXPECT_EQ(map("data: {a.b_c-D: x}\n"), "");
    EXPECT_THAT(map("data: {a/b: x}\n"), HasSubstr("refuses the key \"a/b\""));
    EXPECT_THAT(map("data: {..a: x}\n"), HasSubstr("refuses the key"));
    EXPECT_EQ(map("data: {a: " + std::string((1 << 20) - 1, 'x') + "}\n"), "");
    EXPECT_THAT(map("data: {a: " + std::string(1 << 20, 'x') + "}\n"), HasSubstr("1048577 bytes"));
    EXPECT_EQ(map("binaryData: {a: " + std::string(4 * (1 << 20) / 3 - 8, 'x') + "}\n"), "");
    EXPECT_THAT(map("binaryData: {a: " + std::string(4 * (1 << 20) / 3 + 8, 'x') + "}\n"),
                HasSubstr("bytes"));
}

}  // namespace
}  // namespace edgegpu::test
