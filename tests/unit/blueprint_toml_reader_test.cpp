#include <utility>

#include "blueprint/parse/parse.hpp"
#include "unit/blueprint_testing.hpp"

namespace edgegpu {

TEST_F(BlueprintTest, unknown_keys) {
    EXPECT_EQ(failure("distro = \"lab-12\"\nexclude = []\n"),
              "error: b.toml:2:1: unknown key \"exclude\"\nhint: did you mean \"excludes\"?\n");
    EXPECT_EQ(failure_of("[customizations]\n  hostnme = \"x\"\n"),
              "error: b.toml:3:3: unknown key \"customizations.hostnme\"\n"
              "hint: did you mean \"customizations.hostname\"?\n");
    EXPECT_EQ(failure_of("[modprobe]\nzzzzzzzz = 1\n"),
              "error: b.toml:3:1: unknown key \"modprobe.zzzzzzzz\"\n"
              "hint: known keys: blacklist, options, softdeps\n");
    EXPECT_EQ(failure_of("[[packages]]\nname = \"a\"\nversoin = \"1\"\n"),
              "error: b.toml:4:1: unknown key \"packages.versoin\"\n"
              "hint: did you mean \"packages.version\"?\n");
    EXPECT_EQ(failure_of("[nvida]\n"),
              "error: b.toml:2:2: unknown key \"nvida\"\nhint: did you mean \"nvidia\"?\n");
}

TEST_F(BlueprintTest, wrong_types) {
    EXPECT_EQ(failure_of("name = 5\n"),
              "error: b.toml:2:8: \"name\" must be a string, not an integer\n");
    EXPECT_EQ(failure_of("packages = \"a\"\n"),
              "error: b.toml:2:12: \"packages\" must be an array of tables, not a string\n");
    EXPECT_EQ(failure_of("excludes = [\"a\", 2]\n"),
              "error: b.toml:2:18: \"excludes\" must be an array of strings, not an integer\n");
    EXPECT_EQ(failure_of("weak_dependencies = \"yes\"\n"),
              "error: b.toml:2:21: \"weak_dependencies\" must be a boolean, not a string\n");
    EXPECT_EQ(failure_of("customizations = []\n"),
              "error: b.toml:2:18: \"customizations\" must be a table, not an array\n");
    EXPECT_EQ(
        failure_of("[[repositories]]\nid = \"a\"\nbaseurl = true\n"),
        "error: b.toml:4:11: \"repositories.baseurl\" must be a string or an array of strings, "
        "not a boolean\n");
    EXPECT_EQ(failure_of("[[customizations.user]]\nname = \"a\"\nuid = -1\n"),
              "error: b.toml:4:7: \"customizations.user.uid\" must be between 0 and 4294967294, "
              "not -1\n");
    EXPECT_EQ(failure_of("[[customizations.user]]\nname = \"a\"\nuid = 1.5\n"),
              "error: b.toml:4:7: \"customizations.user.uid\" must be an integer, not a "
              "floating-point number\n");
}

TEST_F(BlueprintTest, missing_file) {
    try {
        (void)parse_blueprint(directory_ / "absent.toml");
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::usage);
        EXPECT_EQ(error.message(),
                  (directory_ / "absent.toml").string() + ": No such file or directory");
    }
}

TEST_F(BlueprintTest, missing_keys) {
    EXPECT_EQ(failure_of("[[packages]]\nversion = \"1\"\n"),
              "error: b.toml:2:1: \"packages.name\" is missing\n");
    EXPECT_EQ(failure_of("[[enabled_modules]]\nname = \"a\"\n"),
              "error: b.toml:2:1: \"enabled_modules.stream\" is missing\n");
    EXPECT_EQ(failure_of("[nvidia]\n"), "error: b.toml:2:1: \"nvidia.driver\" is missing\n");
    EXPECT_EQ(failure_of("[nvidia]\ndriver = \"535\"\n[nvidia.secure_boot]\nkey = \"k\"\n"),
              "error: b.toml:4:1: \"nvidia.secure_boot.certificate\" is missing\n");
    EXPECT_EQ(
        failure("name = \"x\"\n"),
        "error: b.toml:1:1: no ostree ref\n"
        "hint: name the distribution, for \"DISTRO/MAJOR/ARCH/edge\": distro = \"rhel-9.4\", or "
        "--distro rhel-9.4; or set ref in [ostree]\n");
}

TEST_F(BlueprintTest, bad_refs) {
    const char* hint =
        "hint: parts of letters, digits, '_', '.', '-' separated by '/', as in "
        "\"rhel/9/x86_64/edge\"\n";
    for (const std::string ref : {"", "/a", "a/", "a//b", "../a", "a/.b", "-a", "a b", "a:b"}) {
        EXPECT_EQ(failure("[ostree]\nref = \"" + ref + "\"\n"),
                  "error: b.toml:2:7: \"ostree.ref\" is not a valid ostree ref: \"" + ref + "\"\n" +
                      hint);
    }
    for (const std::string table :
         {"[ostree]\n", "[parent]\nrepository = \"/x\"\n", "[ostree]\nref = \"a\"\n"}) {
        const std::string key = table.find("ref") == std::string::npos ? "ref" : "parent";
        const std::string said = failure(table + key + " = \"refs/heads/edge/a\"\n");
        EXPECT_NE(said.find("." + key +
                            "\" is not a valid ostree ref: \"refs/heads/edge/a\" is where a "
                            "repository has one\nhint: name it without refs/heads/: edge/a\n"),
                  std::string::npos)
            << said;
    }
    EXPECT_EQ(failure("distro = \"rhel\"\n"),
              "error: b.toml:1:10: \"distro\" must be NAME-VERSION, not \"rhel\"\n"
              "hint: as in \"rhel-9.4\", \"centos-9\" or \"fedora-40\"\n");
    EXPECT_EQ(failure("distro = \"rhel-" + std::string(10000, '9') + "\"\n"),
              "error: b.toml:1:10: \"distro\" must be NAME-VERSION, not \"rhel-" +
                  std::string(34, '9') +
                  "…\"\n"
                  "hint: as in \"rhel-9.4\", \"centos-9\" or \"fedora-40\"\n");
}

TEST_F(BlueprintTest, duplicates) {
    EXPECT_EQ(failure_of("[[customizations.user]]\nname = \"a\"\n[[customizations.user]]\nname = "
                         "\"a\"\n"),
              "error: b.toml:4:1: duplicate user \"a\" (first at line 2)\n");
    EXPECT_EQ(failure_of("[[customizations.group]]\nname = \"a\"\n[[customizations.group]]\n"
                         "name = \"a\"\n"),
              "error: b.toml:4:1: duplicate group \"a\" (first at line 2)\n");
    EXPECT_EQ(failure_of("[[repositories]]\nid = \"a\"\nbaseurl = \"/x\"\n"
                         "[[repositories]]\nid = \"a\"\nbaseurl = \"/y\"\n"),
              "error: b.toml:5:1: duplicate repository \"a\" (first at b.toml:2:1)\n");
    EXPECT_EQ(failure_of("[[customizations.files]]\npath = \"/etc/a\"\n"
                         "[[customizations.directories]]\npath = \"/etc/a\"\n"),
              "error: b.toml:3:8: duplicate path \"/etc/a\" (first at line 4)\n");
    EXPECT_EQ(failure_of("[[enabled_modules]]\nname = \"a\"\nstream = \"1\"\n"
                         "[[enabled_modules]]\nname = \"a\"\nstream = \"2\"\n"),
              "error: b.toml:5:1: duplicate module \"a\" with another stream, \"2\" (\"1\" at line "
              "2)\n"
              "hint: one stream of a module can be enabled: leave one out\n");
    EXPECT_EQ(failure_of("[[packages]]\nname = \"@a:1\"\n[[groups]]\nname = \"a:2/p\"\n"),
              "error: b.toml:5:8: duplicate module \"a\" with another stream, \"2\" (\"1\" at line "
              "3)\n"
              "hint: one stream of a module can be enabled: leave one out\n");
    EXPECT_EQ(failure_of("[[packages]]\nname = \"@a:1:x\"\n"),
              "error: b.toml:3:8: invalid module \"@a:1:x\"\n"
              "hint: \"@NAME[:STREAM[:VERSION[:CONTEXT]]][/PROFILE]\"\n");
    EXPECT_EQ(failure_of("[microshift]\nbundles = [\"a\", \"x/a\"]\n"),
              "error: b.toml:3:17: duplicate bundle \"a\"\n"
              "hint: to use it twice, give one a name and a namespace of its own: { bundle = …, "
              "name = …, namespace = … }\n");
    EXPECT_EQ(failure_of("[customizations.services]\nenabled = [\"a\"]\nmasked = [\"a\"]\n"),
              "error: b.toml:4:11: unit \"a\" is both enabled and masked\n");
}

TEST_F(BlueprintTest, devices_are_pci_ids_of_nvidia) {
    EXPECT_EQ(failure_of("[nvidia]\ndriver = \"535\"\ndevices = [\"10de:20b7\", \"A30\"]\n"),
              "error: b.toml:4:25: \"A30\" is not a PCI id\n"
              "hint: VENDOR:DEVICE as lspci -n shows it, as in \"10de:20b7\"\n");
    EXPECT_EQ(failure_of("[nvidia]\ndriver = \"535\"\ndevices = [\"1002:744c\"]\n"),
              "error: b.toml:4:12: \"1002:744c\" is not a device of NVIDIA\n"
              "hint: NVIDIA's devices begin with \"10de:\"; lspci -d 10de: -n lists them\n");
}

TEST_F(BlueprintTest, provided_objects) {
    const auto provided = [&](const std::string& entry) {
        return failure_of("[microshift]\nprovided = [\"" + entry + "\"]\n");
    };
    EXPECT_EQ(provided("Secret app"),
              "error: b.toml:3:13: \"Secret app\" is not \"Secret NAMESPACE/NAME\"\n"
              "hint: the name \"*\" stands for all of them\n");
    EXPECT_EQ(provided("StorageClass a/b"),
              "error: b.toml:3:13: \"StorageClass a/b\" is not \"StorageClass NAME\"\n"
              "hint: the name \"*\" stands for all of them\n");
    EXPECT_EQ(provided("Sercet app/a"),
              "error: b.toml:3:13: \"Sercet app/a\" does not begin with a kind that bundles can "
              "lack\nhint: did you mean 'Secret'?\n");
    for (const char* entry : {"", "Secret", "Secret ", "Secret /a", "Secret app/", "Secret app/a b",
                              "Secret app/a/b", "Secret  app/a", "secret app/a", "Namespace"}) {
        EXPECT_NE(provided(entry), "") << entry;
    }
}

TEST_F(BlueprintTest, images_to_embed) {
    const auto globs = [&](const std::string& value) {
        const Blueprint blueprint =
            parse("distro = \"lab-12\"\n[microshift]\nembed_images = " + value + '\n');
        std::vector<std::string> result;
        for (const ImagePattern& pattern : blueprint.microshift.embed_images) {
            result.push_back(pattern.glob);
            EXPECT_EQ(pattern.location.line, 3U);
        }
        return result;
    };
    EXPECT_EQ(globs("true"), std::vector<std::string>{"*"});
    EXPECT_TRUE(globs("false").empty());
    EXPECT_TRUE(globs("[]").empty());
    EXPECT_EQ(globs("[\"quay.io/*\", \"*:1\"]"), (std::vector<std::string>{"quay.io/*", "*:1"}));
    EXPECT_EQ(failure_of("[microshift]\nembed_images = [\"\"]\n"),
              "error: b.toml:3:17: an empty pattern matches no image\n"
              "hint: as in \"nvcr.io/nvidia/*\"; true for all\n");
    EXPECT_EQ(failure_of("[microshift]\nembed_images = 1\n").substr(0, 20), "error: b.toml:3:16: ");
}

TEST_F(BlueprintTest, keys_of_other_image_types_say_what_to_use) {
    for (const auto& [key, instead] : {std::pair<const char*, const char*>{"fdo", "fdo-client"},
                                       {"ignition", "ignition.config.url"},
                                       {"installation_device", "target_rule"},
                                       {"installer", "kickstart"},
                                       {"iso", "kickstart"},
                                       {"openscap", "openscap-scanner"},
                                       {"rpm", "customizations.repositories"},
                                       {"sshd", "sshd_config.d"}}) {
        const std::string message = failure_of("[customizations]\n" + std::string(key) + " = {}\n");
        EXPECT_EQ(message.substr(0, message.find('\n')),
                  "error: b.toml:3:1: not for an edge commit: customizations." + std::string(key));
        EXPECT_NE(message.find(instead), std::string::npos) << message;
    }
}

TEST_F(BlueprintTest, hostile_names_and_paths) {
    EXPECT_EQ(failure_of("[[customizations.user]]\nname = \"../x\"\n"),
              "error: b.toml:3:8: invalid user name \"../x\"\nhint: at most 32 letters, digits, "
              "'_', '.', '-', beginning with a letter or '_'\n");
    EXPECT_EQ(failure_of("[[customizations.user]]\nname = \"a\\nb\"\n"),
              "error: b.toml:3:8: \"customizations.user.name\" contains a control character\n");
    EXPECT_EQ(
        failure_of("[[customizations.user]]\nname = \"a\"\nhome = \"/home/../etc\"\n"),
        "error: b.toml:4:8: \"customizations.user.home\" must be a path without \"..\", \".\" "
        "and double or trailing slashes, not \"/home/../etc\"\n");
    EXPECT_EQ(failure_of("[[customizations.user]]\nname = \"a\"\ndescription = \"x:0:0\"\n"),
              "error: b.toml:4:15: \"customizations.user.description\" must not contain ':'\n");
    EXPECT_EQ(failure_of("[[customizations.files]]\npath = \"etc/a\"\n"),
              "error: b.toml:3:8: \"customizations.files.path\" must be an absolute path, not "
              "\"etc/a\"\n");
    EXPECT_EQ(failure_of("[[customizations.files]]\npath = \"/run/a\"\n"),
              "error: b.toml:3:8: an image cannot carry /run/a: /run is created at boot; use a "
              "tmpfiles.d file\n");
    EXPECT_EQ(failure_of("[[customizations.files]]\npath = \"/etc/a\"\nmode = \"0999\"\n"),
              "error: b.toml:4:8: \"customizations.files.mode\" must be an octal number as a "
              "string, not \"0999\"\nhint: as in mode = \"0644\"\n");
    EXPECT_EQ(failure_of("[modprobe]\nblacklist = [\"a b\"]\n"),
              "error: b.toml:3:14: invalid kernel module name \"a b\"\n");
    EXPECT_EQ(failure_of("[microshift]\nbundles = [\"..\"]\n[[overlays]]\nsource = \"\"\n"),
              "error: b.toml:5:10: \"overlays.source\" is empty\n");
    EXPECT_EQ(failure_of("[customizations.timezone]\ntimezone = \"../../etc/shadow\"\n"),
              "error: b.toml:3:12: invalid time zone \"../../etc/shadow\"\n"
              "hint: a name below /usr/share/zoneinfo, as in \"Europe/Berlin\"\n");
    EXPECT_EQ(failure_of("[customizations.kernel]\nappend = 'a=\"b c'\n"),
              "error: b.toml:3:10: unclosed quote in the kernel arguments\n");
    EXPECT_EQ(
        failure_of("[customizations.kernel]\nappend = 'quiet ostree=/x initrd'\n"),
        "error: b.toml:3:10: the kernel argument \"ostree\" cannot be set: ostree sets it, to "
        "the deployment that an entry boots\nhint: remove it: a device would not boot\n"
        "error: b.toml:3:10: the kernel argument \"initrd\" cannot be set: the boot entry has "
        "it, for its own initramfs\n");
    EXPECT_EQ(failure_of("[customizations.kernel]\nappend = 'BOOT_IMAGE=(hd0)/x'\n"),
              "error: b.toml:3:10: the kernel argument \"BOOT_IMAGE\" cannot be set: the boot "
              "loader sets it, to the kernel that it starts\n"
              "hint: remove it: a device would not boot\n");
    EXPECT_EQ(failure_of("[customizations.kernel]\nappend = 'root=/dev/sda3 quiet ro'\n"),
              "error: b.toml:3:10: the kernel argument \"root\" cannot be set: each device's boot "
              "entry has it, for the file system that the device was installed to\n"
              "hint: remove it: a device would not boot\n"
              "error: b.toml:3:10: the kernel argument \"ro\" cannot be set: boot entries have rw: "
              "with ro, /etc and /var would stay read-only\n");
    EXPECT_EQ(failure_of("[customizations.kernel]\nappend = 'quiet -- single'\n"),
              "error: b.toml:3:10: the kernel argument \"--\" cannot be set: the kernel gives all "
              "that follows to init, also what others add\n"
              "hint: remove it: a device would not boot\n");
    EXPECT_EQ(
        failure_of("[customizations.kernel]\nappend = 'rd.luks.options=discard "
                   "rd.luks.name=d9d1e345-9100-863e-a8df-7e85cffab13f=root init=/x'\n"),
        "error: b.toml:3:10: the kernel argument \"rd.luks.options\" cannot be set: the boot "
        "entry of a disk with encryption has it, for its root partition\n"
        "hint: remove it: a device would not boot\n"
        "error: b.toml:3:10: the kernel argument \"rd.luks.name\" cannot be set: the boot "
        "entry of a disk with encryption has it, for its root partition\n"
        "error: b.toml:3:10: the kernel argument \"init\" cannot be set: the boot entry of an "
        "image without initramfs has it, and systemd is /sbin/init\n");
    EXPECT_EQ(failure_of("[customizations.kernel]\nappend = 'ostree.x=1 initrd.y rw rootwait "
                         "rootflags=data=journal rd.luks.uuid=x'\n"),
              "no error");
}

TEST_F(BlueprintTest, a_key_is_a_key) {
    const std::string hint = "hint: give the line of the .pub file, or remove \"key\"\n";
    for (const char* key : {"\"\"", "\" \"", "\"# none yet\"", "\"\\n\\n\""}) {
        EXPECT_EQ(
            failure_of("[[customizations.user]]\nname = \"a\"\nkey = " + std::string(key) + "\n"),
            "error: b.toml:4:7: \"customizations.user.key\" has no key in it\n" + hint)
            << key;
        EXPECT_EQ(
            failure_of("[[customizations.sshkey]]\nuser = \"a\"\nkey = " + std::string(key) + "\n"),
            "error: b.toml:4:7: \"customizations.sshkey.key\" has no key in it\n" + hint)
            << key;
    }
}

TEST_F(BlueprintTest, passwords_are_hashes_and_never_shown) {
    EXPECT_EQ(
        failure_of("[[customizations.user]]\nname = \"a\"\npassword = \"hunter2\"\n"),
        "error: b.toml:4:12: \"customizations.user.password\" must be a crypt(3) hash, and this "
        "is plain text\n"
        "hint: create one with: openssl passwd -6\n");
}

TEST_F(BlueprintTest, bad_choices) {
    EXPECT_EQ(failure_of("architecture = \"vax\"\n"),
              "error: b.toml:2:16: \"architecture\" must be one of \"x86_64\", \"aarch64\", not "
              "\"vax\"\n");
    EXPECT_EQ(
        failure_of("[nvidia]\ndriver = \"newest\"\n"),
        "error: b.toml:3:10: \"nvidia.driver\" must be a branch, a version or \"latest\", not "
        "\"newest\"\nhint: as in \"535\" or \"535.261.03\"\n");
}

}  // namespace edgegpu
