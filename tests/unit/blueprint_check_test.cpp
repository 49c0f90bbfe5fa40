#include <sys/stat.h>

#include "unit/blueprint_testing.hpp"
#include "unit/tar_fixture.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view unsigned_repository =
    "distro = \"lab-12\"\n[[repositories]]\nid = \"a\"\nbaseurl = \"/x\"\ngpgcheck = false\n"
    "repo_gpgcheck = false\n";

}  // namespace

class BlueprintCheckTest : public BlueprintTest {
protected:
    /// The error of checking a blueprint with a usable repository and this in addition.
    [[nodiscard]] std::string check(const std::string& text) const {
        return failure(std::string(unsigned_repository) + text, true);
    }
};

TEST_F(BlueprintCheckTest, needs_a_repository) {
    const std::string hint =
        "hint: add [[repositories]] with id and baseurl, or give a .repo file: --repository-file "
        "FILE\n";
    EXPECT_EQ(failure("distro = \"lab-12\"\n", true), "error: b.toml:1:1: no repository\n" + hint);
    EXPECT_EQ(failure(std::string(unsigned_repository) + "enabled = false\n", true),
              "error: b.toml:1:1: no repository\n" + hint);
    EXPECT_EQ(check(""), "no error");
}

TEST_F(BlueprintCheckTest, signatures_need_a_key) {
    const std::string repository =
        "distro = \"lab-12\"\n[[repositories]]\nid = \"a\"\nbaseurl = \"/x\"\n";
    EXPECT_EQ(failure(repository, true),
              "error: b.toml:2:1: repository \"a\" has no gpgkey to verify signatures with\n"
              "hint: set gpgkey, or gpgcheck and repo_gpgcheck to false\n");
    EXPECT_EQ(failure(repository + "gpgkey = \"key\"\n", true),
              "error: b.toml:2:1: gpgkey not found: key\n");
    EXPECT_EQ(failure(repository + "gpgkey = \"/etc/pki/rpm-gpg/none\"\n", true), "no error");
    put("key", "x");
    EXPECT_EQ(failure(repository + "gpgkey = \"key\"\n", true), "no error");
    EXPECT_EQ(failure(repository + "gpgkey = \"key\"\nsslclientcert = \"c\"\nsslclientkey = "
                                   "\"/etc/pki/entitlement/1-key.pem\"\n",
                      true),
              "error: b.toml:2:1: sslclientcert not found: c\n");
}

TEST_F(BlueprintCheckTest, overlays) {
    EXPECT_EQ(check("[[overlays]]\nsource = \"node\"\n"),
              "error: b.toml:7:1: overlay not found: overlays/node\n");
    put("../overlays/node/etc/motd", "x");
    EXPECT_EQ(check("[[overlays]]\nsource = \"node\"\n"), "no error");
    put("../overlays/node/run/x", "x");
    EXPECT_EQ(check("[[overlays]]\nsource = \"node\"\n"),
              "error: b.toml:7:1: an image cannot carry /run of overlay overlays/node: /run is "
              "created at boot; use a tmpfiles.d file\n");
    put("fifo/etc/a", "x");
    ASSERT_EQ(::mkfifo((directory_ / "fifo/etc/pipe").c_str(), 0600), 0);
    EXPECT_EQ(check("[[overlays]]\nsource = \"./fifo\"\n"),
              "error: b.toml:7:1: overlay fifo: \"etc/pipe\" is a fifo\nhint: an image carries "
              "files, directories and symbolic links; devices and fifos are made at boot, by udev "
              "or tmpfiles.d\n");
    put("../overlays/tar", test::tar_archive({{"usr/bin/../x"}}));
    EXPECT_EQ(check("[[overlays]]\nsource = \"tar\"\n"),
              "error: b.toml:7:1: overlay overlays/tar: \"usr/bin/../x\" leaves the overlay "
              "(\"..\")\n");
}

TEST_F(BlueprintCheckTest, bundles) {
    const std::string text = "[microshift]\nbundles = [\"./app\"]\n";
    EXPECT_EQ(check(text), "error: b.toml:8:12: bundle not found: app\n");
    put("app/kustomization.yml", "x");
    EXPECT_EQ(check(text), "no error");
}

TEST_F(BlueprintCheckTest, a_policy_module_is_named_once) {
    for (const char* other : {"a/x.pp", "a/x.pp.bz2", "a/x.cil", "a/x.te"}) {
        EXPECT_EQ(check("[selinux]\nmodules = [\"./x.te\", \"./" + std::string(other) + "\"]\n"),
                  "error: b.toml:8:22: duplicate policy module \"x\"\n")
            << other;
    }
}

TEST_F(BlueprintCheckTest, policy_modules_and_keys) {
    EXPECT_EQ(check("[selinux]\nmodules = [\"./m.te\"]\n"),
              "error: b.toml:7:1: policy module not found: m.te\n");
    EXPECT_EQ(check("[selinux]\nforbid = [\"allow a_t b_t:c p\", \"allow a_t b_t\"]\n"),
              "error: b.toml:8:32: not an allow rule: \"allow a_t b_t\": character 14: ':' and a "
              "class are missing\n"
              "hint: write \"allow SOURCE TARGET:CLASS { PERMISSION… }\"\n");
    EXPECT_EQ(check("[ostree]\nsign = \"x\"\ngpg_homedir = \"none\"\n"),
              "error: b.toml:7:1: gpg_homedir not found: none\n");
    EXPECT_EQ(check("[nvidia]\ndriver = \"535\"\n[nvidia.secure_boot]\nkey = \"k.key\"\n"
                    "certificate = \"c.der\"\n"),
              "error: b.toml:9:1: key not found: k.key\n"
              "error: b.toml:9:1: certificate not found: c.der\n");
    EXPECT_EQ(check("[ostree]\ngpg_public_key = \"none\"\n"),
              "error: b.toml:7:1: gpg_public_key not found: none\n");
}

}  // namespace edgegpu
