#include <gtest/gtest.h>

#include "customise/files/files.hpp"
#include "customise/system/system.hpp"
#include "customise_fixture.hpp"
#include "pipeline/snapshot.hpp"

namespace edgegpu::test {
namespace {

class Files : public TreeTest {
protected:
    void SetUp() override {
        TreeTest::SetUp();
        accounts();
        blueprint.path = "b.toml";
    }
    Blueprint blueprint;
};

TEST_F(Files, FilesNeedAParentAndStayInEtc) {
    FileRequest request;
    request.path = "/etc/gpu/a.conf";
    request.data = "x";
    request.location = {"b.toml", 9, 1};
    blueprint.files = {request};
    EXPECT_NE(
        error_of([&] { add_files(ctx, blueprint.files, tree); }).find("no directory '/etc/gpu'"),
        std::string::npos);
    FileRequest parent;
    parent.path = "/etc/gpu";
    parent.directory = true;
    parent.mode = 0750;
    blueprint.files.push_back(parent);
    add_files(ctx, blueprint.files, tree);
    EXPECT_EQ(tree.entries.at("/etc/gpu").mode, 0750U);
    EXPECT_EQ(text("/etc/gpu/a.conf"), "x");
    blueprint.files[0].path = "/usr/bin/bash";
    EXPECT_NE(error_of([&] { add_files(ctx, blueprint.files, tree); }).find("already in the image"),
              std::string::npos);
    blueprint.files[0].path = "/etc/../usr/x";
    EXPECT_NE(error_of([&] { add_files(ctx, blueprint.files, tree); }).find("without '..'"),
              std::string::npos);
}

TEST_F(Files, FirstBundleIsMicroshiftsOwnDirectory) {
    host_file("one/kustomization.yaml", "resources: [a.yaml]\n");
    host_file("one/a.yaml", "kind: X\n");
    host_file("two/kustomization.yml", "resources: []\n");
    blueprint.microshift.bundles = {{"one", scratch / "one", {"b.toml", 1, 1}},
                                    {"two", scratch / "two", {"b.toml", 2, 1}}};
    add_bundles(ctx, take_snapshot(ctx, blueprint).microshift.bundles, tree);
    EXPECT_EQ(text("/etc/microshift/manifests/a.yaml"), "kind: X\n");
    EXPECT_EQ(tree.entries.at("/etc/microshift/manifests/a.yaml").mode, 0644U);
    EXPECT_TRUE(tree.entries.contains("/etc/microshift/manifests.d/two/kustomization.yml"));
}

TEST_F(Files, BundlesHaveNoLinks) {
    blueprint.microshift.bundles = {{"one", scratch / "one", {"b.toml", 1, 1}}};
    host_file("one/kustomization.yaml", "");
    std::filesystem::create_symlink("/etc/shadow", scratch / "one/secret.yaml");
    EXPECT_NE(error_of([&] {
                  add_bundles(ctx, take_snapshot(ctx, blueprint).microshift.bundles, tree);
              }).find("is a symbolic link"),
              std::string::npos);
}

TEST_F(Files, Identity) {
    file("/usr/share/zoneinfo/Europe/Berlin", "TZif");
    file("/etc/chrony.conf", "pool 2.x iburst\ndriftfile /var/lib/chrony/drift\n");
    blueprint.hostname = "edge";
    blueprint.timezone.name = "Europe/Berlin";
    blueprint.timezone.ntp_servers = {"time.lab"};
    blueprint.locale.languages = {"C.UTF-8"};
    set_hostname(ctx, blueprint.hostname, blueprint.hostname_location, tree);
    set_timezone(ctx, blueprint.timezone, tree);
    set_locale(ctx, blueprint.locale, tree);
    EXPECT_EQ(text("/etc/hostname"), "edge\n");
    EXPECT_EQ(text("/etc/locale.conf"), "LANG=C.UTF-8\n");
    EXPECT_EQ(tree.entries.at("/etc/localtime").target, "../usr/share/zoneinfo/Europe/Berlin");
    EXPECT_EQ(text("/etc/chrony.conf"),
              "server time.lab iburst\ndriftfile /var/lib/chrony/drift\n");
    blueprint.timezone.name = "Europe/Berlim";
    blueprint.timezone.location = {"b.toml", 3, 12};
    EXPECT_EQ(error_of([&] { set_timezone(ctx, blueprint.timezone, tree); }),
              "b.toml:3:12: the image has no time zone 'Europe/Berlim'|"
              "did you mean 'Europe/Berlin'?");
}

TEST_F(Files, RemoteVerifiesWithTheKeyOfTheBlueprint) {
    host_file("key.gpg", "KEY");
    blueprint.ostree.url = "https://edge.example/repo";
    add_remote(ctx, blueprint.ostree, tree);
    EXPECT_EQ(console.warnings().size(), 1U);
    blueprint.ostree.gpg_public_key = scratch / "key.gpg";
    add_remote(ctx, blueprint.ostree, tree);
    EXPECT_EQ(text("/etc/ostree/remotes.d/edge.conf"),
              "[remote \"edge\"]\nurl=https://edge.example/repo\ngpg-verify=true\n"
              "gpgkeypath=/etc/pki/edgegpu/edge.gpg\n");
    EXPECT_EQ(text("/etc/pki/edgegpu/edge.gpg"), "KEY");
}

}  // namespace
}  // namespace edgegpu::test
