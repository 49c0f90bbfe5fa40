#include <algorithm>

#include <sys/stat.h>

#include "blueprint/sources/configuration_syntax.hpp"
#include "support/files/data_directory.hpp"
#include "unit/blueprint_testing.hpp"
#include "unit/tar_fixture.hpp"

namespace edgegpu {

class BlueprintCheckTest : public CheckedBlueprintTest {};

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
    put("data.mount", "[Mount]\nWhere=/mnt/x\n");
    EXPECT_EQ(check("[[customizations.files]]\npath = \"/etc/systemd/system/mnt-x.mount\"\nuri = "
                    "\"file://" +
                    (directory_ / "data.mount").string() + "\"\n"),
              "error: data.mount: Where=/mnt/x goes through a link of the device, where systemd "
              "mounts nothing\nhint: mount at /var/mnt/x, in a unit called var-mnt-x.mount\n");
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

TEST_F(BlueprintCheckTest, OnlyFilesOfKnownSyntaxAreJudged) {
    EXPECT_FALSE(configuration_fault("/etc/containers/policy.json", "{ \"default\": [] }"));
    EXPECT_FALSE(configuration_fault("/etc/containers/other.json", "{"));
    EXPECT_FALSE(configuration_fault("/etc/containers/registries.conf.d/README", "text"));
    const auto fault = configuration_fault("/etc/containers/policy.json", "{\n\"default\": [],\n}");
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->problem, "it is not JSON");
    EXPECT_EQ(fault->line, 3U);
    EXPECT_TRUE(configuration_fault("/etc/containers/policy.json", ""));
    const auto toml = configuration_fault("/etc/crio/crio.conf.d/1.conf", "[crio]\nx = y\n");
    ASSERT_TRUE(toml);
    EXPECT_EQ(toml->line, 2U);
    EXPECT_TRUE(configuration_fault("/etc/containers/registries.conf",
                                    "a = " + std::string(1000, '[') + std::string(1000, ']')));
}

TEST_F(BlueprintCheckTest, SyntaxOfConfigurationWithTheUsersFileAndItsLine) {
    const std::string path =
        "[[customizations.files]]\npath = \"/etc/containers/registries.conf\"\n";
    const std::string hint = "\nhint: podman and CRI-O would pull no image\n";
    const std::string data = "a = 1\nb = [";
    EXPECT_EQ(check(path + "data = \"a = 1\\nb = [\"\n"),
              "error: b.toml:7:1: line 2: /etc/containers/registries.conf: it is not TOML" + hint);
    put("site.conf", data);
    EXPECT_EQ(check(path + "uri = \"file://" + (directory_ / "site.conf").string() + "\"\n"),
              "error: site.conf:2: /etc/containers/registries.conf: it is not TOML" + hint);
    put("../overlays/site/etc/containers/registries.conf", data);
    EXPECT_EQ(check("[[overlays]]\nsource = \"site\"\n"),
              "error: overlays/site/etc/containers/registries.conf:2: "
              "/etc/containers/registries.conf: it is not TOML" +
                  hint);
    put("../overlays/site/etc/containers/registries.conf", "a = 1\n");
    EXPECT_EQ(check("[[overlays]]\nsource = \"site\"\n"), "no error");
}

TEST_F(BlueprintCheckTest, NamesThatNothingReads) {
    EXPECT_EQ(warned("[[customizations.files]]\npath = \"/etc/sysctl.d/99-site\"\ndata = \"a\"\n"),
              std::vector<std::string>{
                  "b.toml:7:1: nothing reads /etc/sysctl.d/99-site: systemd-sysctl reads only "
                  "names that end with .conf: /etc/sysctl.d/99-site.conf"});
    put("../overlays/site/etc/udev/rules.d/70-site", "x");
    put("../overlays/site/etc/udev/rules.d/70-site.rules", "x");
    EXPECT_EQ(
        warned("[[overlays]]\nsource = \"site\"\n"),
        std::vector<std::string>{
            "overlays/site/etc/udev/rules.d/70-site: nothing reads /etc/udev/rules.d/70-site: "
            "udev reads only names that end with .rules: /etc/udev/rules.d/70-site.rules"});
}

TEST_F(BlueprintCheckTest, DirectoriesOfOptAreReadOnly) {
    const std::string directory = "[[customizations.directories]]\npath = \"/opt/x\"\n";
    const std::vector<std::string> warning{
        "b.toml:7:1: nobody can write to /opt/x on devices: it is part of the image, as "
        "/usr/lib/opt/x. A directory in its place that devices make and write to is /var/opt/x"};
    EXPECT_EQ(warned(directory), warning);
    const std::string file = "[[customizations.files]]\npath = \"/opt/x/y\"\ndata = \"z\"\n";
    EXPECT_EQ(warned(directory + file), std::vector<std::string>{});
    EXPECT_EQ(warned(directory + "user = \"app\"\n" + file), warning);
    EXPECT_EQ(warned(directory + "mode = \"1777\"\n" + file), warning);
    put("../overlays/opt/opt/x/y", "z");
    EXPECT_EQ(warned(directory + "[[overlays]]\nsource = \"opt\"\n"), std::vector<std::string>{});
    EXPECT_EQ(warned("[[customizations.directories]]\npath = \"/var/opt/x\"\n"),
              std::vector<std::string>{});
}

}  // namespace edgegpu
