#include <algorithm>

#include <sys/stat.h>

#include "support/files/data_directory.hpp"
#include "unit/blueprint_testing.hpp"
#include "unit/tar_fixture.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view unsigned_repository =
    "distro = \"lab-12\"\n[[repositories]]\nid = \"a\"\nbaseurl = \"/x\"\ngpgcheck = false\n"
    "repo_gpgcheck = false\n";
/// What the cases here are not about.
constexpr std::string_view no_login = "[accounts]\nlogin = \"none\"\n";
constexpr std::string_view private_key =
    "-----BEGIN PRIVATE KEY-----\nQ0FOQVJZQ0FOQVJZQ0FOQVJZQ0FOQVJZQ0FOQVJZQ0FOQVJZQ0FOQVJZ\n"
    "-----END PRIVATE KEY-----\n";

}  // namespace

class BlueprintCheckTest : public BlueprintTest {
protected:
    /// The error of checking a blueprint with a usable repository and this in addition.
    [[nodiscard]] std::string check(const std::string& text) const {
        return failure(std::string(unsigned_repository) + text + std::string(no_login), true);
    }
    /// The warnings of such a blueprint, but for the one about its repository.
    [[nodiscard]] std::vector<std::string> warned(const std::string& text) const {
        std::vector<std::string> warnings =
            warnings_of(std::string(unsigned_repository) + text + std::string(no_login));
        warnings.erase(warnings.begin());
        return warnings;
    }
};

TEST_F(BlueprintCheckTest, needs_a_repository) {
    const std::string hint =
        "hint: add [[repositories]] with id and baseurl, or give a .repo file: --repository-file "
        "FILE\n";
    const std::string login(no_login);
    EXPECT_EQ(failure("distro = \"lab-12\"\n" + login, true),
              "error: b.toml:1:1: no repository\n" + hint);
    EXPECT_EQ(failure(std::string(unsigned_repository) + "enabled = false\n" + login, true),
              "error: b.toml:1:1: no repository\n" + hint);
    EXPECT_EQ(check(""), "no error");
}

TEST_F(BlueprintCheckTest, signatures_need_a_key) {
    const std::string repository =
        "distro = \"lab-12\"\naccounts.login = \"none\"\n[[repositories]]\nid = \"a\"\n"
        "baseurl = \"/x\"\n";
    EXPECT_EQ(failure(repository, true),
              "error: b.toml:3:1: repository \"a\" has no gpgkey to verify signatures with\n"
              "hint: set gpgkey to the key file that the vendor of the repository publishes\n");
    EXPECT_EQ(failure(repository + "gpgkey = \"key\"\n", true),
              "error: b.toml:3:1: gpgkey not found: key\n");
    EXPECT_EQ(failure(repository + "gpgkey = \"/etc/pki/rpm-gpg/none\"\n", true), "no error");
    put("key", "x");
    EXPECT_EQ(failure(repository + "gpgkey = \"key\"\n", true), "no error");
    EXPECT_EQ(failure(repository + "gpgkey = \"key\"\nsslclientcert = \"c\"\nsslclientkey = "
                                   "\"/etc/pki/entitlement/1-key.pem\"\n",
                      true),
              "error: b.toml:3:1: sslclientcert not found: c\n");
}

TEST_F(BlueprintCheckTest, mounts_that_ext4_refuses) {
    const std::string volume = "[[customizations.filesystem]]\nmountpoint = \"/data\"\n";
    const std::string hint =
        "\nhint: remove the type or the options, or the volume from the blueprint if another disk "
        "is meant\n";
    const std::string unit = "[[systemd.units]]\nname = \"data.mount\"\n";
    EXPECT_EQ(
        check(volume + unit +
              "[systemd.units.drop_ins]\n\"o.conf\" = "
              "\"[Mount]\\nOptions=prjquota\"\n"),
        "error: b.toml:9:1: /data would be mounted with \"prjquota\", but it is ext4: devices "
        "would not start" +
            hint);
    EXPECT_EQ(check(volume + "[[customizations.files]]\npath = "
                             "\"/etc/systemd/system/data.mount\"\ndata = "
                             "\"[Mount]\\nWhere=/data\\nType=xfs\"\n"),
              "error: b.toml:9:1: /data would be mounted as xfs, but it is ext4: devices would not "
              "start" +
                  hint);
    put("../overlays/disk/etc/fstab", "\nLABEL=a /data xfs pquota 0 0\n");
    const std::string overlay = "[[overlays]]\nsource = \"disk\"\n";
    EXPECT_EQ(check(volume + overlay),
              "error: overlays/disk/etc/fstab:2: /data would be mounted as xfs, but it is ext4: "
              "devices would not start" +
                  hint);
    EXPECT_EQ(check(overlay), "no error") << "there is no such volume";
    EXPECT_EQ(warned(volume + unit + "contents = \"[Mount]\\nOptions=noatime\"\n"),
              std::vector<std::string>{
                  "b.toml:9:1: data.mount has no effect on devices that are installed with the "
                  "volume /data: /etc/fstab of the disk comes before units below /usr; options "
                  "belong into a drop-in of the unit"});
}

TEST_F(BlueprintCheckTest, directoriesOfHomes) {
    const std::string user = "[[customizations.user]]\nname = \"ann\"\n";
    const std::string directory = "[[customizations.directories]]\npath = ";
    for (const char* path : {"/home/ann", "/home/ann/.ssh"}) {
        EXPECT_NE(check(user + directory + "\"" + path + "\"\n")
                      .find(std::string(path) + " has no effect: the home of user 'ann'"),
                  std::string::npos)
            << path;
    }
    EXPECT_EQ(check(user + directory + "\"/home/ann/models\"\n").find("has no effect"),
              std::string::npos);
}

TEST_F(BlueprintCheckTest, overlays) {
    EXPECT_EQ(check("[[overlays]]\nsource = \"node\"\n"),
              "error: b.toml:7:1: overlay not found: overlays/node\nhint: looked for in overlays "
              "and " +
                  (data_directory() / "overlays").string() + '\n');
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

TEST_F(BlueprintCheckTest, all_bad_paths_of_overlays_are_told) {
    const auto cannot = [](const std::string& path, const std::string& overlay,
                           const std::string& why) {
        return "error: b.toml:7:1: an image cannot carry " + path + " of overlay " + overlay +
               ": " + why + '\n';
    };
    const std::string run = "/run is created at boot; use a tmpfiles.d file";
    const std::string local =
        "/usr/local belongs to the device: it is a link to /var/usrlocal there";
    const std::string use = "hint: use /usr/bin, /usr/lib or /usr/share for files of the image\n";
    for (const char* path : {"etc/good", "run/a/b", "run/c", "usr/local/bin/x", "usr/local/y"}) {
        put("o/" + std::string(path), "x");
    }
    ASSERT_EQ(::mkfifo((directory_ / "o/etc/pipe").c_str(), 0600), 0);
    EXPECT_EQ(check("[[overlays]]\nsource = \"./o\"\n[[overlays.rules]]\npath = \"/run/c\"\n"
                    "mode = \"0600\"\n"),
              "error: b.toml:7:1: overlay o: \"etc/pipe\" is a fifo\nhint: an image carries "
              "files, directories and symbolic links; devices and fifos are made at boot, by udev "
              "or tmpfiles.d\n" +
                  cannot("/run", "o", run) + cannot("/usr/local", "o", local) + use);
    put("t.tar", test::tar_archive({{"run/a"}, {"run/b"}, {"usr/local/x"}, {"/etc/absolute"}}));
    EXPECT_EQ(check("[[overlays]]\nsource = \"./t.tar\"\n"),
              cannot("/run", "t.tar", run) + cannot("/usr/local", "t.tar", local) + use +
                  "error: b.toml:7:1: overlay t.tar: \"/etc/absolute\" has an absolute name\n"
                  "hint: names must be relative to the overlay's 'target': create the archive with "
                  "tar -C DIRECTORY\n");
}

/// A blueprint of somebody else may name any file of this machine.
TEST_F(BlueprintCheckTest, files_of_another_form_are_not_quoted) {
    put("shadow", "CANARY:CANARY:19000:0:99999:7:::\nme:x\n");
    put("tokens.json", "[\"CANARY\", \"CANARY\"]\n");
    put("credentials", "[default]\nkey = CANARY\nCANARY\n");
    put("x.te", "module x 1.0;\n");
    for (const char* link : {"../shadow.te", "../shadow.cil", "x.fc", "../x.repo"}) {
        std::filesystem::create_symlink(directory_ / "shadow", directory_ / link);
    }
    for (const char* text :
         {"repository_files = [\"shadow\"]\n", "repository_files = [\"tokens.json\"]\n",
          "repository_files = [\"credentials\"]\n", "repository_files = [\"../x.repo\"]\n",
          "[selinux]\nmodules = [\"../shadow.te\"]\n", "[selinux]\nmodules = [\"../shadow.cil\"]\n",
          "[selinux]\nmodules = [\"./x.te\"]\n",
          "[image]\ninject = \"shadow\"\n[[overlays]]\nsource = \"./shadow\"\n"}) {
        const std::string said = failure("distro = \"lab-12\"\n" + std::string(text), true);
        EXPECT_EQ(said.find("CANARY"), std::string::npos) << text << said;
        EXPECT_NE(said.find("error: "), std::string::npos) << text << said;
    }
    EXPECT_EQ(check("[selinux]\nmodules = [\"../shadow.te\"]\n"),
              "error: shadow.te:1: not a policy module\n"
              "hint: it begins with policy_module(NAME, 1.0) or module NAME 1.0;\n");
}

/// Their size is 0, whatever is in them.
TEST_F(BlueprintCheckTest, files_that_the_kernel_makes_are_refused) {
    const auto with = [&](const std::string& uri) {
        return check("[[customizations.files]]\npath = \"/etc/x\"\nuri = \"file://" + uri + "\"\n");
    };
    const std::string hint = "\nhint: copy what is in it to a file beside the blueprint\n";
    for (const char* file : {"/proc/self/environ", "/sys/kernel/mm/transparent_hugepage/enabled"}) {
        EXPECT_EQ(with(file),
                  "error: b.toml:7:1: file is not a stored file: " + std::string(file) + hint);
    }
    std::filesystem::create_symlink("/proc/self/environ", directory_ / "environ");
    EXPECT_EQ(with((directory_ / "environ").string()),
              "error: b.toml:7:1: file is not a stored file: environ" + hint);
    EXPECT_EQ(with("/dev/null"), "error: b.toml:7:1: file not found: /dev/null\n");
    std::filesystem::create_directory(directory_ / "units");
    std::filesystem::create_symlink("/proc/self/environ", directory_ / "units/x.service");
    EXPECT_EQ(
        check("[[systemd.units]]\nname = \"x.service\"\nsource = \"units/x.service\"\n"),
        "error: b.toml:9:10: units/x.service: not a stored file: the kernel makes its content "
        "when it is read\n");
    EXPECT_NE(check("[[overlays]]\nsource = \"/proc/self/net\"\ntarget = \"/etc/x\"\n")
                  .find("is not a stored file: the kernel makes its content"),
              std::string::npos);
}

TEST_F(BlueprintCheckTest, bundles) {
    const std::string text = "[microshift]\nbundles = [\"./app\"]\n";
    EXPECT_EQ(check(text), "error: b.toml:8:12: bundle not found: app\n");
    put("app/kustomization.yml", "x");
    EXPECT_EQ(check(text), "no error");
}

TEST_F(BlueprintCheckTest, a_policy_module_is_named_once) {
    put("x.te", "module x 1.0;\n");
    for (const char* other : {"a/x.pp", "a/x.pp.bz2", "a/x.cil", "a/x.te"}) {
        EXPECT_EQ(check("[selinux]\nmodules = [\"./x.te\", \"./" + std::string(other) + "\"]\n"),
                  "error: b.toml:8:22: duplicate policy module \"x\"\n")
            << other;
    }
}

TEST_F(BlueprintCheckTest, a_missing_policy_module_is_told_with_similar_names) {
    put("../selinux/local-gpu.te", "module local-gpu 1.0;\n");
    const std::string places =
        "looked for in selinux and " + (data_directory() / "selinux").string() + '\n';
    EXPECT_EQ(
        check("[selinux]\nmodules = [\"nvidia-devices\", \"lokal-gpu\", \"nvidia-devises\"]\n"),
        "error: b.toml:8:30: policy module not found: selinux/lokal-gpu.te\n"
        "hint: did you mean 'local-gpu'? It was " +
            places +
            "error: b.toml:8:43: policy module not found: selinux/nvidia-devises.te\n"
            "hint: did you mean 'nvidia-devices'? It was " +
            places);
    put("node.te", "module node 1.0;\n");
    EXPECT_EQ(check("[selinux]\nmodules = [\"./nodes.te\"]\n"),
              "error: b.toml:8:12: policy module not found: nodes.te\n"
              "hint: did you mean 'node.te'?\n");
}

TEST_F(BlueprintCheckTest, policy_modules_and_keys) {
    EXPECT_EQ(check("[selinux]\nmodules = [\"./m.te\"]\n"),
              "error: b.toml:8:12: policy module not found: m.te\n");
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
    EXPECT_EQ(check("[ostree]\nsign = \"x\"\ngpg_public_key = \"none\"\n"),
              "error: b.toml:7:1: gpg_public_key not found: none\n");
    put("key", "x");
    EXPECT_EQ(check("[ostree]\ngpg_public_key = \"key\"\n"),
              "error: b.toml:7:1: gpg_public_key without sign: devices would verify upgrades that "
              "nobody signs, and refuse every one\n"
              "hint: set sign to the key whose public half it is\n");
    EXPECT_EQ(warned("[ostree]\nsign = \"x\"\ngpg_public_key = \"key\"\n"),
              std::vector<std::string>{"b.toml:7:1: gpg_public_key has no effect without url: the "
                                       "image gets no remote that would use it"});
    EXPECT_TRUE(warned("[ostree]\nsign = \"x\"\ngpg_public_key = \"key\"\n"
                       "url = \"http://x/\"\n")
                    .empty());
}

TEST_F(BlueprintCheckTest, ed25519_keys_are_a_pair_that_devices_can_use) {
    EXPECT_EQ(check("[ostree]\nsign_ed25519 = \"none\"\n"),
              "error: b.toml:7:1: sign_ed25519 not found: none\n");
    put("key", "x");
    EXPECT_EQ(check("[ostree]\ned25519_public_key = \"key\"\n"),
              "error: b.toml:7:1: ed25519_public_key without sign_ed25519: devices would verify "
              "upgrades that nobody signs, and refuse every one\n"
              "hint: set sign_ed25519 to the key whose public half it is\n");
    EXPECT_EQ(
        check("[ostree]\nsign_command = \"key\"\nsign_ed25519 = \"key\"\n"),
        "error: b.toml:7:1: sign_command and sign_ed25519 exclude each other\n"
        "hint: remove one of them\n"
        "error: b.toml:7:1: sign_command without ed25519_public_key, with which what it signs "
        "is verified\n"
        "hint: export the public key\n");
    const auto warns = [&](const std::string& distro) {
        const std::vector<std::string> all = warnings_of(
            "distro = \"" + distro +
            "\"\n[[repositories]]\nid = \"a\"\nbaseurl = \"/x\"\n"
            "gpgcheck = false\nrepo_gpgcheck = false\n[ostree]\nsign_ed25519 = \"key\"\n"
            "ed25519_public_key = \"key\"\nurl = \"http://x/\"\n" +
            std::string(no_login));
        return std::any_of(all.begin(), all.end(), [](const std::string& one) {
            return one.find("is built without ed25519") != std::string::npos;
        });
    };
    for (const char* old : {"rhel-8.10", "rhel-9.2", "centos-8"}) {
        EXPECT_TRUE(warns(old)) << old;
    }
    for (const char* able : {"rhel-9.4", "centos-9", "fedora-40", "rhel-10.0"}) {
        EXPECT_FALSE(warns(able)) << able;
    }
}

TEST_F(BlueprintCheckTest, repositories_that_nobody_verifies_are_warned_of) {
    const std::string text = std::string(unsigned_repository) + std::string(no_login);
    EXPECT_EQ(warnings_of(text),
              std::vector<std::string>{
                  "b.toml:2:1: nothing of repository \"a\" is verified (gpgcheck and "
                  "repo_gpgcheck are off): whoever can change it, there or on the way, can put "
                  "anything into the image"});
    for (const char* off : {"gpgcheck = false", "repo_gpgcheck = false"}) {
        EXPECT_TRUE(warnings_of("distro = \"lab-12\"\naccounts.login = \"none\"\n"
                                "[[repositories]]\nid = \"a\"\nbaseurl = \"/x\"\n"
                                "gpgkey = \"/etc/pki/x\"\n" +
                                std::string(off) + "\n")
                        .empty())
            << off;
    }
}

TEST_F(BlueprintCheckTest, secrets_do_not_become_part_of_the_image) {
    const std::string everybody =
        ": everybody who can read the repository or a device gets it\nhint: give it to each "
        "machine "
        "when its image is made (edgegpu image --inject) or on the device; what everybody may "
        "have is recorded in [[allow_secrets]] (docs/blueprint.md, Secrets)\n";
    put("node/etc/app/conf", "a = 1\n\n" + std::string(private_key));
    EXPECT_EQ(
        check("[[overlays]]\nsource = \"./node\"\n"),
        "error: node/etc/app/conf:3:1: a private key would be in the image, in /etc/app/conf" +
            everybody);
    put("node.tar", test::tar_archive({{"etc/app/key", '0', std::string(private_key), "", 0600}}));
    EXPECT_EQ(check("[[overlays]]\nsource = \"./node.tar\"\n"),
              "error: b.toml:7:1: overlay node.tar: a private key would be in the image, in "
              "/etc/app/key" +
                  everybody);
    struct Case {
        std::string text;
        std::string path;
    };
    for (const Case& one : {
             Case{"[[customizations.files]]\npath = \"/etc/a\"\ndata = \"password=hunter2\"\n",
                  "/etc/a"},
             Case{"[[systemd.units]]\nname = \"a.service\"\ncontents = \"[Service]\\n"
                  "Environment=TOKEN=0123456789abcdef0123\\n\"\n",
                  "/usr/lib/systemd/system/a.service"},
             Case{"[[systemd.units]]\nname = \"a.service\"\ndrop_ins = { \"b.conf\" = "
                  "\"[Service]\\nEnvironment=DB_PASSWORD=hunter2\" }\n",
                  "/usr/lib/systemd/system/a.service.d/b.conf"},
             Case{"[[customizations.firstboot.scripts]]\nname = \"join\"\ncontents = \"curl -u "
                  "joe:hunter2 https://x\"\n",
                  "/usr/libexec/edgegpu/firstboot/01-join"},
             Case{"[customizations.kernel]\nappend = \"quiet rd.iscsi.password=hunter2\"\n",
                  "/usr/lib/edgegpu/kernel-arguments"},
             Case{"[ostree]\nurl = \"https://joe:hunter2@x.invalid/\"\n",
                  "/etc/ostree/remotes.d/edge.conf"},
             Case{"[[customizations.repositories]]\nid = \"b\"\nbaseurls = "
                  "[\"https://joe:hunter2@x.invalid/\"]\n",
                  "/etc/yum.repos.d/b.repo"},
         }) {
        const std::string said = check(one.text);
        EXPECT_NE(said.find(" would be in the image, in " + one.path + everybody),
                  std::string::npos)
            << one.text << said;
        EXPECT_EQ(said.find("hunter2"), std::string::npos) << said;
        EXPECT_EQ(check(one.text + "[[allow_secrets]]\npath = \"" + one.path +
                        "\"\nreason = \"a test\"\n"),
                  "no error")
            << one.text;
    }
}

TEST_F(BlueprintCheckTest, tokens_of_nvidias_licence_server_are_each_machines_own) {
    const std::string name = "client_configuration_token_04-08-2022-15-02-50.tok";
    const std::string in_image = "/etc/nvidia/ClientConfigToken/" + name;
    const std::string token =
        "eyJhbGciOiJSUzI1NiJ9.eyJqdGkiOiI4ZWM5YyJ9.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P";
    const std::string kind = "a client's token of NVIDIA's licence server would be in the image";
    put("node" + in_image, token);
    put("token", token);
    put("node.tar", test::tar_archive({{in_image.substr(1), '0', token, "", 0744}}));
    EXPECT_EQ(check("[[overlays]]\nsource = \"./node\"\n")
                  .find("error: node" + in_image + ":1:1: " + kind + ", in " + in_image),
              0U);
    EXPECT_NE(check("[[overlays]]\nsource = \"./node.tar\"\n").find(kind), std::string::npos);
    for (const char* path : {in_image.c_str(), "/etc/site/licence"}) {
        for (const std::string& content :
             {"data = \"" + token + "\"\n",
              "uri = \"file://" + (directory_ / "token").string() + "\"\n"}) {
            const std::string said =
                check("[[customizations.files]]\npath = \"" + std::string(path) + "\"\n" + content);
            EXPECT_NE(said.find(std::string("in the image, in ") + path), std::string::npos)
                << said;
            EXPECT_NE(said.find("edgegpu image --inject"), std::string::npos) << said;
            EXPECT_EQ(said.find("eyJ"), std::string::npos) << said;
        }
    }
}

TEST_F(BlueprintCheckTest, secrets_of_one_machine_are_allowed_by_name_only) {
    const std::string login = "{\"auths\": {\"x\": {\"auth\": \"am9lOmh1bnRlcjI=\"}}}";
    const std::string token =
        "eyJhbGciOiJSUzI1NiJ9.eyJqdGkiOiI4ZWM5YyJ9.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P";
    struct Case {
        std::string path;
        std::string content;
        std::string kind;
        std::string what;
        std::string other;
    };
    for (const Case& one :
         {Case{"/etc/crio/login", login, "registry login", "a login at a registry",
               "licence token"},
          Case{"/etc/nvidia/ClientConfigToken/x.tok", token, "licence token",
               "a client's token of NVIDIA's licence server", "registry login"},
          // By its form, in a directory that gridd.conf names.
          Case{"/etc/site/x.tok", token + "\n", "licence token",
               "a client's token of NVIDIA's licence server", "registry login"}}) {
        put("secret", one.content);
        const std::string file = "[[customizations.files]]\npath = \"" + one.path +
                                 "\"\nuri = \"file://" + (directory_ / "secret").string() + "\"\n";
        const auto allow = [](const std::string& path, const std::string& more) {
            return "[[allow_secrets]]\npath = \"" + path + "\"\nreason = \"a test\"\n" + more;
        };
        const std::string kind = "kind = \"" + one.kind + "\"\n";
        for (const std::string& general :
             {std::string(), allow("/etc/**", ""), allow(one.path, "")}) {
            const std::string said = check(file + general);
            EXPECT_NE(said.find(one.what + " would be in the image, in " + one.path),
                      std::string::npos)
                << general << said;
            EXPECT_NE(said.find("with this path alone and " + kind), std::string::npos) << said;
            EXPECT_EQ(said.find("no file that matches"), std::string::npos) << said;
            EXPECT_EQ(said.find("error: ", 1), std::string::npos) << said;
        }
        EXPECT_EQ(check(file + allow(one.path, kind)), "no error");
        EXPECT_NE(check(file + allow("/etc/**", kind))
                      .find("a " + one.kind + " is allowed in one file, not in"),
                  std::string::npos);
        const std::string other = check(file + allow(one.path, "kind = \"" + one.other + "\"\n"));
        EXPECT_NE(other.find(one.what), std::string::npos) << other;
        EXPECT_NE(other.find("has a " + one.other), std::string::npos) << other;
        const std::vector<std::string> warnings = warned(file + allow(one.path, kind));
        ASSERT_EQ(warnings.size(), 1U);
        EXPECT_NE(warnings[0].find(one.path + " has a " + one.kind +
                                   ", as [[allow_secrets]] says: everybody who can read"),
                  std::string::npos)
            << warnings[0];
        // Nor does it let anything else in.
        put("secret", std::string(private_key) + one.content);
        if (one.what == "a login at a registry") {
            EXPECT_NE(check(file + allow(one.path, kind)).find("a private key would be"),
                      std::string::npos);
        }
    }
}

TEST_F(BlueprintCheckTest, allowances_are_needed_and_have_a_reason) {
    EXPECT_EQ(check("[[allow_secrets]]\npath = \"/etc/a/**\"\nreason = \"a test\"\n"),
              "error: b.toml:7:1: no file that matches \"/etc/a/**\" has a secret\n"
              "hint: remove it: it would let one in that nobody has looked at\n");
    EXPECT_EQ(check("[[allow_secrets]]\npath = \"/etc/a\"\n"),
              "error: b.toml:7:1: a secret is allowed without a reason\n"
              "hint: say why everybody who gets the image may have it: reason = \"…\"\n");
    EXPECT_EQ(check("[[allow_secrets]]\npath = \"etc/a\"\nreason = \"x\"\n"),
              "error: b.toml:8:8: \"allow_secrets.path\" must be a pattern of absolute paths in "
              "the image, not \"etc/a\"\nhint: as in \"/usr/bin/*\" or "
              "\"/usr/lib/vendor/**\"\n");
    EXPECT_EQ(check("[[allow_secrets]]\npath = \"/etc/microshift/manifests/app/**\"\n"
                    "reason = \"x\"\n"),
              "no error")
        << "bundles are judged when they are rendered";
}

TEST_F(BlueprintCheckTest, files_that_others_may_not_read_here) {
    put("node/etc/motd", "x");
    put("node/etc/app/conf", "x");
    const auto hide = [&](const char* file) {
        ASSERT_EQ(::chmod((directory_ / file).c_str(), 0640), 0);
    };
    const std::string overlay = "[[overlays]]\nsource = \"./node\"\n";
    EXPECT_TRUE(warned(overlay).empty());
    hide("node/etc/app/conf");
    EXPECT_EQ(warned(overlay),
              std::vector<std::string>{
                  "b.toml:7:1: overlay node: others may not read /etc/app/conf here, but in the "
                  "image: an overlay keeps of modes only whether a file is executable. Set the "
                  "mode in [[overlays.rules]]"});
    EXPECT_TRUE(
        warned(overlay + "[[overlays.rules]]\npath = \"/etc/app/*\"\nmode = \"0640\"\n").empty());
    put("node/etc/sudoers.d/op", "x");
    hide("node/etc/sudoers.d/op");
    EXPECT_EQ(warned(overlay).front().find("sudoers"), std::string::npos) << "its path says it";
    hide("node/etc/motd");
    EXPECT_TRUE(warned(overlay).empty()) << "a umask, which says nothing of single files";
}

}  // namespace edgegpu
