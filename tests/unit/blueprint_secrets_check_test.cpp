#include "unit/blueprint_testing.hpp"
#include "unit/tar_fixture.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view private_key =
    "-----BEGIN PRIVATE KEY-----\nQ0FOQVJZQ0FOQVJZQ0FOQVJZQ0FOQVJZQ0FOQVJZQ0FOQVJZQ0FOQVJZ\n"
    "-----END PRIVATE KEY-----\n";

}  // namespace

class SecretsCheckTest : public CheckedBlueprintTest {};

TEST_F(SecretsCheckTest, secrets_do_not_become_part_of_the_image) {
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

TEST_F(SecretsCheckTest, tokens_of_nvidias_licence_server_are_each_machines_own) {
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

TEST_F(SecretsCheckTest, secrets_of_one_machine_are_allowed_by_name_only) {
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

TEST_F(SecretsCheckTest, allowances_are_needed_and_have_a_reason) {
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

}  // namespace edgegpu
