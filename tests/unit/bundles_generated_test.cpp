#include "bundles/generated.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bundles/checks/checks.hpp"
#include "bundles/render.hpp"
#include "bundles_fixture.hpp"
#include "yaml/yaml.hpp"

namespace edgegpu::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* deployment = R"(apiVersion: apps/v1
kind: Deployment
metadata:
  name: app
spec:
  selector:
    matchLabels: {app: app}
  template:
    metadata:
      labels: {app: app}
    spec:
      containers:
        - name: app
          image: quay.io/x/app:1
      volumes:
        - name: settings
          configMap: {name: settings}
)";

class GeneratedTest : public OwnPath {
protected:
    GeneratedTest() { request_.location = bundle_.location; }

    [[nodiscard]] RenderedBundle render(const std::vector<BundleImage>& pins = {}) const {
        const BundleFiles generated = generate_bundle(bundle_, request_, pins);
        return render_bundle({}, find_renderer({}), generated);
    }
    [[nodiscard]] std::string text(const std::vector<BundleImage>& pins = {}) const {
        return render(pins).text;
    }
    /// The whole text of the error.
    [[nodiscard]] std::string failure() const {
        try {
            check_bundles({render()}, facts_of(Blueprint{}));
        } catch (const Error& problem) {
            EXPECT_EQ(problem.kind(), ErrorKind::usage);
            return problem.render();
        }
        return "none";
    }

    // NOLINTBEGIN(*-non-private-*)
    BundleFiles bundle_{"app",
                        "/home/user/app",
                        {"b.toml", 3, 12},
                        {{"kustomization.yaml",
                          "resources: [app.yaml]\nnamespace: there\nconfigMapGenerator:\n"
                          "  - {name: settings, literals: [a=b]}\n"},
                         {"app.yaml", deployment},
                         {"components/extra/kustomization.yaml",
                          "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
                          "configMapGenerator:\n"
                          "  - {name: extra, namespace: there, literals: [a=b]}\n"}}};
    BundleRequest request_;
    // NOLINTEND(*-non-private-*)
};

TEST_F(GeneratedTest, NothingToChange) {
    EXPECT_FALSE(is_customised(request_));
    const BundleFiles same = generate_bundle(bundle_, request_);
    EXPECT_EQ(same.files, bundle_.files);
    EXPECT_EQ(same.path_of("app.yaml"), "/home/user/app/app.yaml");
}

TEST_F(GeneratedTest, Everything) {
    link_real_kustomize();
    request_.name_space = "here";
    request_.components = {{"extra", {"b.toml", 4, 1}}};
    request_.images = {{"quay.io/x/app", "registry.local:5000/app", "2", "", {}}};
    request_.replicas = {{"app", 3, {}}};
    request_.patches = {{"- {op: add, path: /metadata/labels, value: {x: 'yes'}}\n",
                         PatchTarget{"apps", "v1", "Deployment", "app", "", "", ""},
                         {}}};
    request_.values = {{"settings", {{"a", "c\n"}, {"more.yaml", "x: 1\n"}}, {}},
                       {"extra", {{"b", "'quoted'"}}, {}},
                       {"new", {{"k", ""}}, {}}};
    EXPECT_TRUE(is_customised(request_));
    const BundleFiles made = generate_bundle(bundle_, request_);
    EXPECT_EQ(made.files.at("base/app.yaml"), deployment);
    EXPECT_EQ(made.files.at("values/settings/more.yaml"), "x: 1\n");
    EXPECT_EQ(made.files.at("with-components/kustomization.yaml"),
              "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
              "resources:\n- \"../base\"\ncomponents:\n- \"../base/components/extra\"\n");
    EXPECT_EQ(made.files.at("kustomization.yaml"), R"(apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- "with-components"
namespace: "here"
images:
- name: "quay.io/x/app"
  newName: "registry.local:5000/app"
  newTag: "2"
replicas:
- name: "app"
  count: 3
patches:
- path: "patch-1.yaml"
  target:
    group: "apps"
    version: "v1"
    kind: "Deployment"
    name: "app"
configMapGenerator:
- name: "settings"
  behavior: merge
  files:
  - "a=values/settings/a"
  - "more.yaml=values/settings/more.yaml"
- name: "extra"
  namespace: "there"
  behavior: merge
  files:
  - "b=values/extra/b"
- name: "new"
  files:
  - "k=values/new/k"
  options:
    disableNameSuffixHash: true
)");
    const RenderedBundle rendered = render();
    EXPECT_EQ(generate_bundle(bundle_, request_).digest(), made.digest());
    EXPECT_THAT(rendered.text, HasSubstr("image: registry.local:5000/app:2\n"));
    EXPECT_THAT(rendered.text, HasSubstr("replicas: 3\n"));
    EXPECT_THAT(rendered.text, HasSubstr("x: \"yes\"\n"));
    EXPECT_THAT(rendered.text, HasSubstr("b: '''quoted'''\n"));
    EXPECT_THAT(rendered.text, HasSubstr("  a: |\n    c\n"));
    EXPECT_THAT(rendered.text, HasSubstr("name: new\n"));
    // The bundle's own config maps keep the hash in their names, and who uses them knows it.
    EXPECT_THAT(rendered.text, testing::ContainsRegex("configMap:\n +name: settings-[a-z0-9]{10}"));
    EXPECT_THAT(rendered.text, Not(HasSubstr("namespace: there")));
}

TEST_F(GeneratedTest, ComponentsWithoutValuesNeedNoDirectory) {
    link_real_kustomize();
    request_.components = {{"extra", {}}};
    EXPECT_THAT(generate_bundle(bundle_, request_).files.at("kustomization.yaml"),
                HasSubstr("resources:\n- \"base\"\ncomponents:\n- \"base/components/extra\"\n"));
    EXPECT_THAT(text(), HasSubstr("name: extra-"));
}

TEST_F(GeneratedTest, PinsComeAfterTheBlueprintsImages) {
    link_real_kustomize();
    const std::string digest = "sha256:" + std::string(64, 'a');
    EXPECT_THAT(text({{"quay.io/x/app", "", "", digest, {}}}),
                HasSubstr("image: quay.io/x/app@" + digest + '\n'));
    request_.images = {{"quay.io/x/app", "other.io/app", "", "", {}}};
    EXPECT_THAT(text({{"other.io/app", "", "1", digest, {}}}),
                HasSubstr("image: other.io/app:1@" + digest + '\n'));
}

TEST_F(GeneratedTest, AConfigMapOfAFileKeepsItsName) {
    link_real_kustomize();
    bundle_.files["kustomization.yaml"] = "resources: [app.yaml, map.yaml]\nnamespace: there\n";
    bundle_.files["map.yaml"] =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: there}\n"
        "data: {a: b}\n";
    request_.values = {{"settings", {{"c", "d"}}, {}}};
    EXPECT_THAT(text(), HasSubstr("data:\n  a: b\n  c: d\nkind: ConfigMap\nmetadata:\n"
                                  "  name: settings\n  namespace: there\n"));
}

TEST_F(GeneratedTest, UnknownComponents) {
    request_.components = {{"exrta", {"b.toml", 5, 2}}, {"nix", {"b.toml", 6, 2}}};
    const std::string said = failure();
    EXPECT_THAT(said, HasSubstr("b.toml:5:2: bundle \"app\" has no component \"exrta\""));
    EXPECT_THAT(said, HasSubstr("did you mean 'extra'?"));
    EXPECT_THAT(said, HasSubstr("b.toml:6:2: bundle \"app\" has no component \"nix\""));
    EXPECT_THAT(said, HasSubstr("it has extra"));
}

TEST_F(GeneratedTest, MistakesNameTheBlueprintsLine) {
    link_real_kustomize();
    request_.replicas = {{"app", 2, {"b.toml", 7, 1}}, {"nope", 2, {"b.toml", 8, 1}}};
    EXPECT_THAT(failure(), HasSubstr("b.toml:8:1: bundle \"app\": kustomize"));
    request_.replicas.clear();
    const auto patched = [&](const std::string& patch, std::optional<PatchTarget> target) {
        request_.patches = {{"kind: Deployment\napiVersion: apps/v1\nmetadata: {name: app}\n",
                             std::nullopt,
                             {"b.toml", 9, 1}},
                            {patch, std::move(target), {"b.toml", 10, 1}}};
        return failure();
    };
    EXPECT_THAT(patched("a: [\n", {}), HasSubstr("b.toml:10:1: bundle \"app\": kustomize"));
    EXPECT_THAT(patched("kind: Deployment\napiVersion: apps/v1\nmetadata: {name: nope}\n", {}),
                HasSubstr("b.toml:10:1: bundle \"app\": kustomize"));
    EXPECT_THAT(patched("- {op: remove, path: /x}\n", {}),
                HasSubstr("b.toml:10:1: bundle \"app\": kustomize"));
    PatchTarget bad;
    bad.kind = "Dep(";
    EXPECT_THAT(patched("- {op: remove, path: /x}\n", bad),
                HasSubstr("b.toml:10:1: bundle \"app\": kustomize"));
    const std::string multiple = patched("--- \nx: *y\n", {});
    EXPECT_THAT(multiple, HasSubstr("b.toml:10:1"));
    EXPECT_THAT(multiple, Not(HasSubstr("/input")));
}

TEST_F(GeneratedTest, TheTextOfAPatchIsNotQuoted) {
    link_real_kustomize();
    for (const char* file : {"root:$6$CANARY:19000:0:99999:7:::\nme:x\n",
                             "apiVersion: v1\nkind: Config\nusers:\n- user: {token: CANARY}\n",
                             "CANARY\n", "[CANARY, {op: x}]\n", "{CANARY: {CANARY: x}}\n"}) {
        request_.patches = {{file, {}, {"b.toml", 7, 1}}};
        const std::string said = failure();
        EXPECT_THAT(said, HasSubstr("b.toml:7:1: bundle \"app\"")) << file;
        EXPECT_THAT(said, Not(HasSubstr("CANARY"))) << file;
    }
}

TEST_F(GeneratedTest, FindingsNameTheUsersFiles) {
    link_real_kustomize();
    request_.replicas = {{"app", 2, {"b.toml", 7, 1}}};
    bundle_.files["app.yaml"] = std::string(deployment) + "      nodeName: 3\n";
    const std::string said = failure();
    EXPECT_THAT(said, HasSubstr("/home/user/app/app.yaml:18:17: Deployment there/app: "));
    EXPECT_THAT(said, HasSubstr("in bundle \"app\" of b.toml:3:12"));
}

TEST_F(GeneratedTest, FindingsInAPatchNameTheBlueprint) {
    link_real_kustomize();
    request_.patches = {
        {"kind: Deployment\napiVersion: apps/v1\nmetadata: {name: app}\n"
         "spec: {template: {spec: {nodeName: 3}}}\n",
         std::nullopt,
         {"b.toml", 9, 1}}};
    EXPECT_THAT(failure(), HasSubstr("b.toml:9:1: Deployment there/app: "));
}

TEST_F(GeneratedTest, MistakesOfTheBundleNameItsFiles) {
    link_real_kustomize();
    request_.name_space = "x";
    bundle_.files["kustomization.yaml"] = "resources: [nix.yaml]\n";
    EXPECT_THAT(failure(),
                HasSubstr("/home/user/app/kustomization.yaml:1:13: \"nix.yaml\" is not in"));
}

TEST_F(GeneratedTest, HostileTextStaysText) {
    link_real_kustomize();
    request_.name_space = "x\"\nresources: [/etc]\n#";
    request_.images = {{"quay.io/x/app", "'\"x\nnamespace: y", "${a} *b", "", {}}};
    request_.replicas = {{"- \"*\n", 1, {}}};
    const BundleFiles made = generate_bundle(bundle_, request_);
    const std::vector<YamlNode> read = read_yaml("k", made.files.at("kustomization.yaml"));
    ASSERT_EQ(read.size(), 1U);
    EXPECT_THAT(read[0].keys, testing::ElementsAre("apiVersion", "kind", "resources", "namespace",
                                                   "images", "replicas"));
    EXPECT_EQ(read[0].text_at({"namespace"}), request_.name_space);
    EXPECT_EQ(read[0].find("images")->items[0].text_at({"newName"}), request_.images[0].new_name);
    EXPECT_EQ(read[0].find("replicas")->items[0].text_at({"name"}), "- \"*\n");
}

}  // namespace
}  // namespace edgegpu::test
