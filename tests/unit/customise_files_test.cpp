#include <fmt/format.h>
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
    EXPECT_NE(error_of([&] {
                  add_files(ctx, blueprint.files, modes, tree);
              }).find("no directory '/etc/gpu'"),
              std::string::npos);
    FileRequest parent;
    parent.path = "/etc/gpu";
    parent.directory = true;
    parent.mode = 0750;
    blueprint.files.push_back(parent);
    add_files(ctx, blueprint.files, modes, tree);
    EXPECT_EQ(tree.entries.at("/etc/gpu").mode, 0750U);
    EXPECT_EQ(text("/etc/gpu/a.conf"), "x");
    blueprint.files[0].path = "/usr/bin/bash";
    EXPECT_NE(error_of([&] {
                  add_files(ctx, blueprint.files, modes, tree);
              }).find("already in the image"),
              std::string::npos);
    blueprint.files[0].path = "/etc/../usr/x";
    EXPECT_NE(error_of([&] { add_files(ctx, blueprint.files, modes, tree); }).find("without '..'"),
              std::string::npos);
}

TEST_F(Files, ADirectoryOfAPackageKeepsWhatIsNotSaid) {
    directory("/etc/polkit-1/rules.d", 0750, 0, 991);
    FileRequest request;
    request.path = "/etc/polkit-1/rules.d";
    request.directory = true;
    request.location = {"b.toml", 9, 1};
    add_files(ctx, {request}, modes, tree);
    EXPECT_EQ(tree.entries.at("/etc/polkit-1/rules.d").mode, 0750U);
    EXPECT_EQ(tree.entries.at("/etc/polkit-1/rules.d").gid, 991U);
    request.user = "chrony";
    add_files(ctx, {request}, modes, tree);
    EXPECT_EQ(tree.entries.at("/etc/polkit-1/rules.d").uid, 990U);
    EXPECT_EQ(tree.entries.at("/etc/polkit-1/rules.d").gid, 991U);
    request.user = request.group = "root";
    add_files(ctx, {request}, modes, tree);
    EXPECT_EQ(tree.entries.at("/etc/polkit-1/rules.d").uid, 0U);
    EXPECT_EQ(tree.entries.at("/etc/polkit-1/rules.d").gid, 0U);
}

TEST_F(Files, FilesWithoutAModeGetTheOneThatTheirReaderInsistsOn) {
    directory("/etc/sudoers.d");
    FileRequest request;
    request.path = "/etc/sudoers.d/op";
    request.data = "x";
    request.location = {"b.toml", 9, 1};
    add_files(ctx, {request}, modes, tree);
    EXPECT_EQ(tree.entries.at("/etc/sudoers.d/op").mode, 0440U);
    request.mode = 0664;
    add_files(ctx, {request}, modes, tree);
    EXPECT_EQ(tree.entries.at("/etc/sudoers.d/op").mode, 0664U);
    EXPECT_EQ(console.warnings(),
              std::vector<std::string>{"the mode that is set: sudo ignores rules that others can "
                                       "change: /etc/sudoers.d/op"});
}

TEST_F(Files, Manifests) {
    add_manifests(ctx, {"b.toml", 1, 1},
                  {{"/etc/microshift/manifests/kustomization.yaml", "resources: [app]\n"},
                   {"/etc/microshift/manifests/app/kustomization.yaml", "resources: [a.yaml]\n"},
                   {"/etc/microshift/manifests/app/a.yaml", "kind: X\n"}},
                  tree);
    EXPECT_EQ(text("/etc/microshift/manifests/app/a.yaml"), "kind: X\n");
    EXPECT_EQ(tree.entries.at("/etc/microshift/manifests/app/a.yaml").mode, 0644U);
}

TEST_F(Files, ManifestsDoNotReplaceThoseOfAnOverlay) {
    const auto adding = [&](const std::string& path) {
        return error_of([&] { add_manifests(ctx, {"b.toml", 4, 1}, {{path, "x"}}, tree); });
    };
    file("/etc/microshift/manifests/kustomization.yml", "resources: []\n");
    file("/usr/lib/microshift/manifests.d/app/a.yaml", "mine\n");
    EXPECT_NE(adding("/etc/microshift/manifests/kustomization.yaml")
                  .find("b.toml:4:1: /etc/microshift/manifests/kustomization.yml is already in"),
              std::string::npos);
    EXPECT_NE(adding("/usr/lib/microshift/manifests.d/app/a.yaml")
                  .find("b.toml:4:1: /usr/lib/microshift/manifests.d/app/a.yaml is already in"),
              std::string::npos);
    EXPECT_EQ(text("/usr/lib/microshift/manifests.d/app/a.yaml"), "mine\n");
    EXPECT_EQ(adding("/etc/microshift/manifests.d/app/kustomization.yaml"), "");
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
    // The smallest public key, twice: indented and without checksums, as GnuPG does not read it.
    constexpr std::string_view block =
        "Key:\n  -----BEGIN PGP PUBLIC KEY BLOCK-----\n\n  mAgEAAAAAAEAAA==\n"
        "  -----END PGP PUBLIC KEY BLOCK-----\n";
    const std::string key("\x98\x08\x04\0\0\0\0\x01\0\0", 10);
    host_file("key.gpg", fmt::format("{0}{0}", block));
    blueprint.ostree.url = "https://edge.example/repo";
    add_remote(ctx, blueprint.ostree, "", {}, tree);
    EXPECT_EQ(console.warnings().size(), 1U);
    blueprint.ostree.gpg_public_key = scratch / "key.gpg";
    add_remote(ctx, blueprint.ostree, "", {}, tree);
    EXPECT_EQ(text("/etc/ostree/remotes.d/edge.conf"),
              "[remote \"edge\"]\nurl=https://edge.example/repo\ngpg-verify=true\n"
              "gpgkeypath=/etc/pki/edgegpu/edge.gpg\n");
    EXPECT_EQ(text("/etc/pki/edgegpu/edge.gpg"), key + key);
    // libostree reads base64, one key a line, and no PEM.
    const std::string line = "PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=\n";
    host_file("key.pem",
              "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAPUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0"
              "Zgw=\n-----END PUBLIC KEY-----\n");
    blueprint.ostree.ed25519_public_key = scratch / "key.pem";
    add_remote(ctx, blueprint.ostree, "", {}, tree);
    EXPECT_EQ(text("/etc/ostree/remotes.d/edge.conf"),
              "[remote \"edge\"]\nurl=https://edge.example/repo\ngpg-verify=true\n"
              "gpgkeypath=/etc/pki/edgegpu/edge.gpg\nsign-verify=ed25519;\n"
              "verification-ed25519-file=/etc/pki/edgegpu/edge.ed25519\n");
    EXPECT_EQ(text("/etc/pki/edgegpu/edge.ed25519"), line);
    blueprint.ostree.gpg_public_key.clear();
    add_remote(ctx, blueprint.ostree, "", {}, tree);
    EXPECT_EQ(text("/etc/ostree/remotes.d/edge.conf"),
              "[remote \"edge\"]\nurl=https://edge.example/repo\ngpg-verify=false\n"
              "sign-verify=ed25519;\nverification-ed25519-file=/etc/pki/edgegpu/edge.ed25519\n");
}

TEST_F(Files, RemoteIsReachedAsTheParentsWas) {
    file("/etc/ostree/remotes.d/edge.conf",
         "[remote \"other\"]\nproxy=http://other\n[remote \"edge\"]\nurl=http://x\n"
         "sign-verify=ed25519;\nproxy=http://proxy:3128\ntls-ca-path=/etc/ca.pem\n");
    blueprint.ostree.url = "https://edge.example/repo";
    add_remote(ctx, blueprint.ostree, "", {}, tree);
    const std::string begin =
        "[remote \"edge\"]\nurl=https://edge.example/repo\ngpg-verify=false\n";
    EXPECT_EQ(text("/etc/ostree/remotes.d/edge.conf"),
              begin + "proxy=http://proxy:3128\ntls-ca-path=/etc/ca.pem\n");
    add_remote(ctx, blueprint.ostree, "http://new:3128", {}, tree);
    EXPECT_EQ(text("/etc/ostree/remotes.d/edge.conf"),
              begin + "proxy=http://new:3128\ntls-ca-path=/etc/ca.pem\n");
}

TEST_F(Files, WhatTheBlueprintsOwnFileSaysOfTheRemoteStays) {
    const std::string path = "/etc/ostree/remotes.d/edge.conf";
    const std::string set =
        "[remote \"edge\"]\nurl=http://x\ngpg-verify-summary=true\nhttp2=false\n";
    blueprint.ostree.url = "https://edge.example/repo";
    file(path, set);
    add_remote(ctx, blueprint.ostree, "", {{path, {"remote.conf", true}}}, tree);
    EXPECT_EQ(text(path),
              "[remote \"edge\"]\nurl=https://edge.example/repo\ngpg-verify=false\n"
              "gpg-verify-summary=true\nhttp2=false\n");
    file(path, set);
    add_remote(ctx, blueprint.ostree, "", {}, tree);
    EXPECT_EQ(text(path), "[remote \"edge\"]\nurl=https://edge.example/repo\ngpg-verify=false\n")
        << "that of a parent is about another server";
}

}  // namespace
}  // namespace edgegpu::test
