#include "bundles/install/tombstones.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bundles_fixture.hpp"

namespace edgegpu::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* place = "/etc/microshift/manifests.d/";

std::string object(const std::string& api_version, const std::string& kind, const std::string& name,
                   const std::string& name_space = "") {
    return "---\napiVersion: " + api_version + "\nkind: " + kind + "\nmetadata:\n  name: " + name +
           '\n' + (name_space.empty() ? "" : "  namespace: " + name_space + '\n');
}

class TombstonesTest : public OwnPath {
protected:
    TombstonesTest() { request_.manifests = ManifestsPlace::etc; }
    void SetUp() override { link_real_kustomize(); }

    static void put(ManifestFiles& files, const std::string& bundle, const std::string& objects) {
        files[place + bundle + "/kustomization.yaml"] = "resources: [a.yaml]\n";
        files[place + bundle + "/a.yaml"] = objects;
    }
    /// Tombstones of an image that has these bundles of the blueprint.
    [[nodiscard]] Tombstones make(const std::map<std::string, std::string>& bundles = {}) const {
        std::vector<RenderedBundle> rendered;
        rendered.reserve(bundles.size());
        ManifestFiles image = image_;
        for (const auto& [name, objects] : bundles) {
            rendered.push_back(render_bundle(
                {}, find_renderer({}),
                {name,
                 "/home/" + name,
                 {},
                 {{"kustomization.yaml", "resources: [a.yaml]\n"}, {"a.yaml", objects}}}));
        }
        for (const auto& [path, content] : place_bundles(rendered, request_.manifests)) {
            image[path] = content;
        }
        return make_tombstones({}, request_, rendered, image, parent_, KubernetesVersion{31});
    }
    [[nodiscard]] static std::string objects_of(const Tombstones& made, const std::string& name) {
        const auto file = made.files.find(std::string(place) + "delete/" + name + "/objects.yaml");
        return file == made.files.end() ? "none" : file->second;
    }

    // NOLINTBEGIN(*-non-private-*)
    MicroshiftRequest request_;
    ManifestFiles parent_;
    /// of overlays and packages
    ManifestFiles image_;
    // NOLINTEND(*-non-private-*)
};

TEST_F(TombstonesTest, ABundleThatIsGone) {
    put(parent_, "app",
        object("apps/v1", "Deployment", "app", "there") + "spec: {replicas: 3}\n" +
            object("v1", "ServiceAccount", "app"));
    const Tombstones made = make();
    EXPECT_THAT(made.bundles, ElementsAre("app"));
    EXPECT_THAT(made.warnings, IsEmpty());
    EXPECT_EQ(objects_of(made, "app"), R"(apiVersion: "v1"
kind: "ServiceAccount"
metadata:
  name: "app"
  namespace: "default"
---
apiVersion: "apps/v1"
kind: "Deployment"
metadata:
  name: "app"
  namespace: "there"
)");
    EXPECT_EQ(made.files.at(std::string(place) + "delete/app/kustomization.yaml"),
              R"(apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
metadata:
  annotations:
    edgegpu/commits-left: "5"
resources:
- "objects.yaml"
)");
}

TEST_F(TombstonesTest, TheyAreKeptForSomeCommits) {
    put(parent_, "app", object("v1", "ConfigMap", "a", "x"));
    request_.tombstones = 3;
    for (const char* left : {"\"3\"", "\"2\"", "\"1\""}) {
        const Tombstones made = make();
        EXPECT_THAT(made.files.at(std::string(place) + "delete/app/kustomization.yaml"),
                    HasSubstr(left));
        EXPECT_THAT(objects_of(made, "app"), HasSubstr("\"ConfigMap\""));
        parent_ = made.files;
    }
    EXPECT_THAT(make().files, IsEmpty());
}

TEST_F(TombstonesTest, WhatTheImageHasIsNotDeleted) {
    put(parent_, "app", object("v1", "ConfigMap", "a", "x") + object("v1", "ConfigMap", "b", "x"));
    // Renamed, moved, in another version of the API group, of an overlay: all of it is there.
    EXPECT_THAT(
        make({{"new", object("v1", "ConfigMap", "a", "x") + object("v1", "ConfigMap", "b", "x")}})
            .files,
        IsEmpty());
    EXPECT_THAT(make({{"app", object("v1", "Secret", "s", "x")}}).files, IsEmpty());
    EXPECT_THAT(objects_of(make({{"new", object("v1", "ConfigMap", "a", "x")}}), "app"),
                AllOf(HasSubstr("\"b\""), Not(HasSubstr("\"a\""))));
    image_["/usr/lib/microshift/manifests/kustomization.yaml"] = "resources: [a.yaml]\n";
    image_["/usr/lib/microshift/manifests/a.yaml"] = object("v1", "ConfigMap", "b", "x");
    EXPECT_THAT(objects_of(make(), "app"), AllOf(HasSubstr("\"a\""), Not(HasSubstr("\"b\""))));
    // What the tombstone of an earlier commit deletes may be back.
    image_.clear();
    parent_ = make().files;
    EXPECT_THAT(objects_of(make({{"new", object("v1", "ConfigMap", "a", "x")}}), "app"),
                AllOf(HasSubstr("\"b\""), Not(HasSubstr("\"a\""))));
}

TEST_F(TombstonesTest, AnImageThatCannotBeReadDeletesNothing) {
    put(parent_, "app", object("v1", "ConfigMap", "a", "x"));
    image_["/usr/lib/microshift/manifests/kustomization.yaml"] = "resources: [nix.yaml]\n";
    const Tombstones made = make();
    EXPECT_THAT(made.files, IsEmpty());
    EXPECT_THAT(made.warnings, ElementsAre(HasSubstr("/usr/lib/microshift/manifests does not "
                                                     "render: no bundle of the parent is")));
}

TEST_F(TombstonesTest, DataIsKeptUnlessTheBlueprintSaysOtherwise) {
    put(parent_, "app",
        object("v1", "Namespace", "app") + object("v1", "Namespace", "shared") +
            object("v1", "PersistentVolumeClaim", "data", "app") +
            object("v1", "ConfigMap", "a", "app"));
    const std::map<std::string, std::string> others{
        {"other", object("v1", "ConfigMap", "o", "shared")}};
    const Tombstones kept = make(others);
    EXPECT_THAT(objects_of(kept, "app"), AllOf(HasSubstr("ConfigMap"), Not(HasSubstr("Namespace")),
                                               Not(HasSubstr("PersistentVolumeClaim"))));
    EXPECT_THAT(kept.warnings,
                ElementsAre("bundle \"app\" is gone, but devices keep what holds data: Namespace "
                            "app, PersistentVolumeClaim app/data"));
    request_.delete_data = true;
    const Tombstones deleted = make(others);
    EXPECT_THAT(objects_of(deleted, "app"),
                AllOf(HasSubstr("name: \"app\""), HasSubstr("PersistentVolumeClaim"),
                      Not(HasSubstr("shared"))));
    EXPECT_THAT(deleted.warnings, IsEmpty());
    // They are taken out again of an earlier tombstone.
    parent_ = deleted.files;
    request_.delete_data = false;
    EXPECT_THAT(objects_of(make(others), "app"), Not(HasSubstr("Namespace")));
}

TEST_F(TombstonesTest, NamespacesOfTheSystemAreKept) {
    const std::string namespaces =
        object("v1", "Namespace", "kube-system") + object("v1", "Namespace", "openshift") +
        object("v1", "Namespace", "openshift-dns") + object("v1", "Namespace", "openshiftfoo");
    request_.delete_data = true;
    const auto only_the_last =
        AllOf(HasSubstr("\"openshiftfoo\""), Not(HasSubstr("kube-system")),
              Not(HasSubstr("\"openshift\"")), Not(HasSubstr("openshift-dns")));
    put(parent_, "app", namespaces);
    EXPECT_THAT(objects_of(make(), "app"), only_the_last);
    // A tombstone of the parent may have been made by anyone.
    parent_ = make().files;
    parent_.at(std::string(place) + "delete/app/objects.yaml") = namespaces;
    EXPECT_THAT(objects_of(make(), "app"), only_the_last);
}

TEST_F(TombstonesTest, OnlyKindsThatEveryMicroshiftHas) {
    put(parent_, "app",
        object("nfd.k8s-sigs.io/v1alpha1", "NodeFeature", "n", "x") +
            object("route.openshift.io/v1", "Route", "r", "x"));
    const Tombstones made = make();
    EXPECT_THAT(objects_of(made, "app"), AllOf(HasSubstr("Route"), Not(HasSubstr("NodeFeature"))));
    EXPECT_THAT(made.warnings, ElementsAre(HasSubstr("NodeFeature x/n")));
}

TEST_F(TombstonesTest, NoneIfTheBlueprintWantsNone) {
    put(parent_, "app", object("v1", "ConfigMap", "a", "x"));
    request_.tombstones = 0;
    EXPECT_THAT(make().files, IsEmpty());
    request_.tombstones = 5;
    request_.manifests = ManifestsPlace::usr;
    EXPECT_THAT(
        make().files,
        testing::Contains(testing::Key("/usr/lib/microshift/manifests.d/delete/app/objects.yaml")));
}

TEST_F(TombstonesTest, ABundleOfTheOldPlace) {
    parent_["/etc/microshift/manifests/kustomization.yaml"] = "resources: [a.yaml]\n";
    parent_["/etc/microshift/manifests/a.yaml"] = object("v1", "ConfigMap", "a", "x");
    EXPECT_THAT(make({{"app", object("v1", "ConfigMap", "a", "x")}}).files, IsEmpty());
    EXPECT_THAT(make().bundles, ElementsAre("manifests"));
}

TEST_F(TombstonesTest, WithoutAProgramThatRenders) {
    std::filesystem::remove(directory() / "kustomize");
    put(parent_, "app", object("v1", "ConfigMap", "a", "x"));
    put(parent_, "other", object("v1", "ConfigMap", "b", "x"));
    const Tombstones made = make();
    EXPECT_THAT(made.files, IsEmpty());
    EXPECT_THAT(made.warnings,
                ElementsAre(AllOf(HasSubstr("bundles need kustomize 5"), HasSubstr("in PATH"))));
    // Nothing is to be rendered.
    parent_ = {{std::string(place) + "README", ""}};
    EXPECT_THAT(make().warnings, IsEmpty());
}

TEST_F(TombstonesTest, NotMoreThanSomeBundlesOfTheParent) {
    const std::string graves = std::string(place) + "delete/";
    for (unsigned i = 0; i < 300; ++i) {
        parent_[fmt::format("{}x{}/kustomization.yaml", graves, i)] = "";
    }
    put(parent_, "app", object("v1", "ConfigMap", "a", "x"));
    const Tombstones made = make();
    EXPECT_THAT(made.bundles, ElementsAre("app"));
    EXPECT_THAT(made.warnings,
                ElementsAre(HasSubstr("300 tombstones: the objects of all but 256")));
}

TEST_F(TombstonesTest, AHostileParent) {
    put(parent_, "no-yaml", "[\n");
    put(parent_, "remote", object("v1", "ConfigMap", "a", "x"));
    parent_[std::string(place) + "remote/kustomization.yaml"] = "resources: [https://x/y.yaml]\n";
    put(parent_, "a b\n\x1b[31m", object("v1", "ConfigMap", "a", "x"));
    put(parent_, "good", object("v1", "ConfigMap", "good", "x"));
    const std::string graves = std::string(place) + "delete/";
    const std::string started =
        "resources: [objects.yaml]\nmetadata:\n  annotations:\n    "
        "edgegpu/commits-left: ";
    parent_[graves + "many/kustomization.yaml"] = started + "\"99999999\"\n";
    parent_[graves + "many/objects.yaml"] =
        object("v1", "ConfigMap", "\"x\\n---\\nkind: Y\"", "x") +
        object("v1", "ConfigMap", "fine", "x") + "--- 3\n---\n[a]\n";
    parent_[graves + "foreign/kustomization.yaml"] = "resources: [objects.yaml]\n";
    parent_[graves + "foreign/objects.yaml"] = object("v1", "ConfigMap", "f", "x");
    parent_[graves + "overflow/kustomization.yaml"] = started + "99999999999999999999\n";
    parent_[graves + "broken/kustomization.yaml"] = started + "5\n";
    parent_[graves + "broken/objects.yaml"] = "{";
    const Tombstones made = make();
    EXPECT_THAT(made.bundles, testing::Contains("good"));
    EXPECT_THAT(made.bundles, Not(testing::Contains("foreign")));
    EXPECT_THAT(made.bundles, Not(testing::Contains("overflow")));
    EXPECT_THAT(made.warnings, testing::Contains(HasSubstr("no-yaml does not render")));
    EXPECT_THAT(made.warnings, testing::Contains(HasSubstr("remote does not render")));
    EXPECT_THAT(made.warnings, testing::Contains(HasSubstr("delete/broken: a tombstone")));
    for (const auto& [path, content] : made.files) {
        EXPECT_THAT(path, Not(HasSubstr("\n")));
        if (path.ends_with("kustomization.yaml")) {
            EXPECT_THAT(content, testing::ContainsRegex("commits-left: \"[1-5]\""));
        }
    }
}

}  // namespace
}  // namespace edgegpu::test
