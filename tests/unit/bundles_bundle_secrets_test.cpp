#include "bundles/install/bundle_secrets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bundles_fixture.hpp"

namespace edgegpu::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class BundleSecrets : public OwnPath {
protected:
    void SetUp() override { link_real_kustomize(); }

    void secret(const std::string& rest) {
        bundle_.files["secret.yaml"] =
            "apiVersion: v1\nkind: Secret\nmetadata: {name: access, namespace: app}\n" + rest;
        bundle_.files["kustomization.yaml"] = "resources: [secret.yaml]\n";
    }
    void allow(const std::string& path, const std::string& kind = "") {
        blueprint_.allow_secrets.push_back({path, kind, "a test", {"b.toml", 9, 1}});
    }
    [[nodiscard]] std::vector<std::string> warnings() const {
        return check_bundle_secrets(blueprint_, {render_bundle({}, find_renderer({}), bundle_)});
    }
    [[nodiscard]] std::string refused() const {
        try {
            static_cast<void>(warnings());
        } catch (const Error& failure) {
            EXPECT_EQ(failure.kind(), ErrorKind::usage);
            return failure.render();
        }
        return "none";
    }

    // NOLINTBEGIN(*-non-private-*)
    Blueprint blueprint_;
    BundleFiles bundle_{"app", "/home/user/app", {"b.toml", 3, 12}, {}};
    // NOLINTEND(*-non-private-*)
};

TEST_F(BundleSecrets, TheValuesOfSecrets) {
    secret("stringData: {user: joe, password: CANARY2}\n");
    const std::string said = refused();
    EXPECT_THAT(said, HasSubstr("error: /home/user/app/secret.yaml:3:1: the content of Secret "
                                "app/access would be in the image, in "
                                "/etc/microshift/manifests/app/secret.yaml: everybody"));
    EXPECT_THAT(said, HasSubstr("provided = [\"Secret app/access\"]"));
    EXPECT_THAT(said, Not(HasSubstr("CANARY2")));
    EXPECT_EQ(said.find("error: ", 7), std::string::npos) << "said once: " << said;
    secret("data: {tls.key: Q0FOQVJZMg==}\n");
    EXPECT_THAT(refused(), HasSubstr("the content of Secret app/access"));
    blueprint_.microshift.manifests = ManifestsPlace::usr;
    EXPECT_THAT(refused(), HasSubstr("in /usr/lib/microshift/manifests.d/app/secret.yaml"));
}

TEST_F(BundleSecrets, EmptyOnesAndCertificatesAreNone) {
    secret("stringData: {token: \"\"}\n");
    EXPECT_EQ(refused(), "none");
    secret("type: kubernetes.io/service-account-token\n");
    EXPECT_EQ(refused(), "none");
    secret("data: {ca.crt: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUQ=}\n");
    EXPECT_EQ(refused(), "none");
}

TEST_F(BundleSecrets, GeneratedOnes) {
    bundle_.files["kustomization.yaml"] =
        "namespace: app\nsecretGenerator:\n- {name: access, literals: [pin=4711]}\n";
    EXPECT_THAT(refused(), HasSubstr("error: /home/user/app/kustomization.yaml:"));
    EXPECT_THAT(refused(), HasSubstr("the content of Secret app/access-"));
}

TEST_F(BundleSecrets, OtherFiles) {
    bundle_.files["app.yaml"] =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  app.ini: |\n"
        "    password = CANARY2\n";
    bundle_.files["kustomization.yaml"] = "resources: [app.yaml]\n";
    EXPECT_THAT(refused(), HasSubstr("error: /home/user/app/app.yaml:6:1: a password would be in "
                                     "the image, in /etc/microshift/manifests/app/app.yaml"));
    EXPECT_THAT(refused(), Not(HasSubstr("CANARY2")));
}

TEST_F(BundleSecrets, PullSecretsAreAllowedByNameOnly) {
    const std::string file = "/etc/microshift/manifests/app/secret.yaml";
    // {"auths": {"x": {"auth": "…"}}}, in what Kubernetes takes for one and what only we do
    const std::string value =
        "data: {.dockerconfigjson: "
        "eyJhdXRocyI6IHsieCI6IHsiYXV0aCI6ICJhbTlsT21oMWJuUmxjakk9In19fQ==}\n";
    for (const std::string type : {"type: kubernetes.io/dockerconfigjson\n", "type: Opaque\n"}) {
        secret(type + value);
        blueprint_.allow_secrets.clear();
        allow("/etc/microshift/manifests/app/**");
        EXPECT_THAT(refused(), HasSubstr("with this path alone and kind = \"registry login\""))
            << type;
    }
    secret("type: kubernetes.io/dockerconfigjson\n" + value);
    blueprint_.allow_secrets.clear();
    allow(file, "registry login");
    EXPECT_EQ(refused(), "none");
    EXPECT_THAT(warnings(), testing::ElementsAre(HasSubstr(file + " has a registry login")));
}

TEST_F(BundleSecrets, WhatTheBlueprintAllows) {
    secret("stringData: {password: CANARY2}\n");
    allow("/etc/microshift/manifests/app/*.yaml");
    EXPECT_EQ(refused(), "none");
    allow("/etc/microshift/manifests/other/**");
    EXPECT_THAT(refused(), HasSubstr("error: b.toml:9:1: no file that matches "
                                     "\"/etc/microshift/manifests/other/**\" has a secret"));
}

}  // namespace
}  // namespace edgegpu::test
