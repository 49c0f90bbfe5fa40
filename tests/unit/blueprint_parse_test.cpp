#include <filesystem>

#include <gmock/gmock.h>

#include "blueprint/distro/distro.hpp"
#include "blueprint/parse/check.hpp"
#include "blueprint/parse/parse.hpp"
#include "unit/blueprint_testing.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> specs(const std::vector<PackageRequest>& requests) {
    std::vector<std::string> found;
    found.reserve(requests.size());
    for (const PackageRequest& request : requests) {
        found.push_back(request.spec);
    }
    return found;
}

using Strings = std::vector<std::string>;

}  // namespace

TEST(ImageBuilderBlueprint, is_read_unchanged) {
    const Blueprint blueprint =
        parse_blueprint(fs::path(EDGEGPU_SOURCE_DIR) / "tests/data/blueprints/image-builder.toml");
    EXPECT_EQ(blueprint.name, "microshift-edge");
    EXPECT_EQ(blueprint.description, "A RHEL for Edge\nimage with MicroShift");
    EXPECT_EQ(blueprint.version, "1.0");
    EXPECT_EQ(blueprint.releasever, "9");
    EXPECT_EQ(blueprint.ostree.ref, "rhel/9/x86_64/edge");
    EXPECT_EQ(specs(blueprint.packages),
              (Strings{"microshift-4.18.*", "openshift-clients", "jq", "podman"}));
    EXPECT_EQ(specs(blueprint.groups),
              (Strings{"@nodejs:18/minimal", "@core", "@container-management"}));
    ASSERT_EQ(blueprint.modules.size(), 1U);
    EXPECT_EQ(blueprint.modules[0].name, "postgresql");
    EXPECT_EQ(blueprint.modules[0].stream, "15");
    EXPECT_TRUE(blueprint.modules[0].profiles.empty());
    EXPECT_EQ(blueprint.packages[0].location.line, 10U);
}

TEST(ImageBuilderBlueprint, customizations_are_read) {
    const Blueprint blueprint =
        parse_blueprint(fs::path(EDGEGPU_SOURCE_DIR) / "tests/data/blueprints/image-builder.toml");
    EXPECT_EQ(blueprint.hostname, "edge.example.com");
    EXPECT_EQ(blueprint.kernel.name, "kernel-rt");
    EXPECT_EQ(blueprint.kernel.arguments, (Strings{"quiet", "dyndbg=\"file a.c +p\"", "nosmt"}));
    ASSERT_EQ(blueprint.users.size(), 2U);
    const UserRequest& admin = blueprint.users[0];
    EXPECT_EQ(admin.name, "admin");
    EXPECT_EQ(admin.password,
              "$6$salt$wZU8LXJfJJqoagopbB7RuK6JEotEMZ0CQDy0phpPAuLMYQFcmf6L6BdAbs/"
              "Q7w7o1qsZ9pFqFVY4yuUSWgaYt1");
    EXPECT_EQ(admin.key,
              "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB "
              "first@example.com\n"
              "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIC "
              "second@example.com");
    EXPECT_EQ(admin.home, "/srv/admin");
    EXPECT_EQ(admin.groups, (Strings{"wheel", "users"}));
    EXPECT_EQ(admin.uid, 1200U);
    EXPECT_EQ(admin.gid, 1201U);
    EXPECT_EQ(blueprint.users[1].name, "root");
    EXPECT_EQ(blueprint.users[1].key,
              "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMD "
              "root@example.com");
    ASSERT_EQ(blueprint.groups_to_add.size(), 1U);
    EXPECT_EQ(blueprint.groups_to_add[0].gid, 1130U);
    EXPECT_EQ(blueprint.timezone.name, "US/Eastern");
    EXPECT_EQ(blueprint.timezone.ntp_servers,
              (Strings{"0.north-america.pool.ntp.org", "2001:db8::1"}));
    EXPECT_EQ(blueprint.locale.languages, Strings{"en_US.UTF-8"});
    EXPECT_EQ(blueprint.locale.keyboard, "us");
    EXPECT_EQ(blueprint.services.enabled, (Strings{"sshd", "microshift.service"}));
    EXPECT_EQ(blueprint.services.disabled, Strings{"postfix"});
    EXPECT_EQ(blueprint.services.masked, Strings{"rpcbind"});
    ASSERT_EQ(blueprint.files.size(), 2U);
    EXPECT_TRUE(blueprint.files[0].directory);
    EXPECT_TRUE(blueprint.files[0].ensure_parents);
    EXPECT_EQ(blueprint.files[0].mode, 0750U);
    EXPECT_EQ(blueprint.files[0].group, "widget");
    EXPECT_EQ(blueprint.files[1].data, "hello\tworld\n");
    EXPECT_EQ(blueprint.files[1].user, "1200");
    EXPECT_FALSE(blueprint.files[1].mode.has_value());
}

TEST(ShippedBlueprints, parse) {
    const fs::path directory = fs::path(EDGEGPU_SOURCE_DIR) / "blueprints";
    const Blueprint lab = parse_blueprint(directory / "lab-gpu.toml");
    EXPECT_EQ(lab.ostree.ref, "lab/12/x86_64/edge-gpu");
    ASSERT_EQ(lab.repositories.size(), 3U);
    EXPECT_EQ(lab.repositories[0].baseurls.front(),
              "file://" + (fs::path(EDGEGPU_SOURCE_DIR) / "build/lab/repos/baseos").string());
    EXPECT_TRUE(lab.repositories[0].gpgcheck);
    EXPECT_TRUE(lab.repositories[0].repo_gpgcheck);
    ASSERT_TRUE(lab.nvidia.has_value());
    EXPECT_EQ(lab.nvidia->driver, "535");
    EXPECT_EQ(lab.nvidia->toolkit, "1.17.*");

    const Blueprint rhel = load_blueprint(directory / "rhel-9-device-edge-gpu.toml");
    EXPECT_EQ(rhel.repositories[0].baseurls.front(),
              "https://cdn.redhat.com/content/dist/rhel9/9.4/x86_64/baseos/os");
}

TEST_F(BlueprintTest, defaults) {
    const Blueprint blueprint = parse("distro = \"rhel-9.4\"\n");
    EXPECT_EQ(blueprint.version, "0.0.0");
    EXPECT_EQ(blueprint.architecture, "x86_64");
    EXPECT_EQ(blueprint.releasever, "9");
    EXPECT_EQ(blueprint.ostree.ref, "rhel/9/x86_64/edge");
    EXPECT_EQ(blueprint.ostree.remote, "edge");
    EXPECT_EQ(blueprint.kernel.name, "kernel");
    EXPECT_FALSE(blueprint.weak_dependencies);
    EXPECT_FALSE(blueprint.nvidia.has_value());
    EXPECT_EQ(blueprint.path, directory_ / "b.toml");
}

TEST_F(BlueprintTest, suse_has_kernels_by_flavour_and_repositories_by_service_pack) {
    for (const char* distro : {"sles-15.6", "opensuse-leap-15.6", "sl-micro-6.1", "sles-16.0"}) {
        const Blueprint blueprint = parse(fmt::format("distro = \"{}\"\n", distro));
        EXPECT_TRUE(is_suse(blueprint.distro));
        EXPECT_EQ(blueprint.kernel.name, "kernel-default");
        EXPECT_TRUE(std::string(distro).ends_with("-" + blueprint.releasever));
        EXPECT_TRUE(blueprint.notes.empty());
    }
    const Blueprint azure =
        parse("distro = \"sles-15.6\"\n[customizations.kernel]\nname = \"kernel-azure\"\n");
    EXPECT_EQ(azure.ostree.ref, "sles/15/x86_64/edge");
    EXPECT_EQ(azure.kernel.name, "kernel-azure");
    EXPECT_EQ(parse("distro = \"sles-15.6\"\n[customizations.kernel]\nname = \"\"\n").kernel.name,
              "kernel-default");
    EXPECT_FALSE(is_suse("rhel-9.4"));
    EXPECT_FALSE(is_suse(""));
}

TEST_F(BlueprintTest, modules_are_not_compiled_on_suse) {
    const std::string driver = "[nvidia]\ndriver = \"550\"\nmodules = \"dkms\"\n";
    EXPECT_THAT(failure("distro = \"sles-15.6\"\n" + driver),
                testing::HasSubstr("b.toml:4:11: modules = \"dkms\" is not for sles-15.6"));
    EXPECT_EQ(parse("distro = \"rhel-9.4\"\n" + driver).nvidia->modules, DriverModules::dkms);
}

TEST_F(BlueprintTest, own_tables_are_read) {
    put("../manifests/plugin/kustomization.yaml", "resources: []\n");
    const Blueprint blueprint = parse(R"(
distro = "lab-12"
excludes = ["rng-tools", "iwl*"]
weak_dependencies = true
[ostree]
ref = "a/b"
parent = "a/old"
url = "https://example.com/repo"
remote = "fleet"
sign = "ABCD"
gpg_homedir = "keys"
gpg_public_key = "/srv/key"
[nvidia]
driver = "535.261.03"
kernel = "5.14.0-427*"
profile = "fm"
[nvidia.secure_boot]
key = "keys/modules.key"
certificate = "/srv/modules.pem"
[selinux]
modules = ["bare", "local/x.cil", "y.pp.bz2"]
booleans = { container_use_devices = true, other = false }
[modprobe]
blacklist = ["nouveau"]
options = { nvidia = "NVreg_X=1" }
[[overlays]]
source = "node"
[[overlays]]
source = "./here/"
user = "svc"
group = "grp"
replace = true
[microshift]
bundles = ["plugin", "mine/app"]
provided = ["Secret app/token", "Pod app/*", "ClusterRole system:x"]
embed_images = false
)");
    EXPECT_EQ(blueprint.excludes, (Strings{"rng-tools", "iwl*"}));
    EXPECT_TRUE(blueprint.weak_dependencies);
    EXPECT_EQ(blueprint.ostree.parent, "a/old");
    EXPECT_EQ(blueprint.ostree.remote, "fleet");
    EXPECT_EQ(blueprint.ostree.gpg_homedir, directory_ / "keys");
    EXPECT_EQ(blueprint.ostree.gpg_public_key, "/srv/key");
    ASSERT_TRUE(blueprint.nvidia.has_value());
    EXPECT_EQ(blueprint.nvidia->kernel.glob, "5.14.0-427*");
    EXPECT_EQ(blueprint.nvidia->location.line, 13U);
    ASSERT_TRUE(blueprint.nvidia->secure_boot.has_value());
    EXPECT_EQ(blueprint.nvidia->secure_boot->key, directory_ / "keys/modules.key");
    EXPECT_EQ(blueprint.nvidia->secure_boot->certificate, "/srv/modules.pem");
    EXPECT_EQ(blueprint.selinux.modules,
              (std::vector<fs::path>{top_ / "selinux/bare.te", directory_ / "local/x.cil",
                                     directory_ / "y.pp.bz2"}));
    EXPECT_EQ(blueprint.selinux.booleans,
              (std::map<std::string, bool>{{"container_use_devices", true}, {"other", false}}));
    EXPECT_EQ(blueprint.modprobe.options.at("nvidia"), "NVreg_X=1");
    ASSERT_EQ(blueprint.overlays.size(), 2U);
    EXPECT_EQ(blueprint.overlays[0].source, top_ / "overlays/node");
    EXPECT_EQ(blueprint.overlays[1].source, directory_ / "here");
    EXPECT_TRUE(blueprint.overlays[1].replace);
    ASSERT_EQ(blueprint.microshift.bundles.size(), 2U);
    EXPECT_EQ(blueprint.microshift.bundles[0].source, top_ / "manifests/plugin");
    EXPECT_EQ(blueprint.microshift.bundles[1].source, directory_ / "mine/app");
    EXPECT_EQ(blueprint.microshift.bundles[1].name, "app");
    ASSERT_EQ(blueprint.microshift.provided.size(), 3U);
    EXPECT_EQ(blueprint.microshift.provided[0].kind, "Secret");
    EXPECT_EQ(blueprint.microshift.provided[0].name_space, "app");
    EXPECT_EQ(blueprint.microshift.provided[0].name, "token");
    EXPECT_EQ(blueprint.microshift.provided[1].name, "*");
    EXPECT_EQ(blueprint.microshift.provided[2].name_space, "");
    EXPECT_EQ(blueprint.microshift.provided[2].name, "system:x");
}

}  // namespace edgegpu
