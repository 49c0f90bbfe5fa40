#include "unit/blueprint_testing.hpp"
#include "unit/certificates.hpp"

namespace edgegpu {

class CustomizationsTest : public BlueprintTest {
protected:
    [[nodiscard]] Blueprint read(const std::string& text) const {
        return parse("distro = \"rhel-9.4\"\n" + text);
    }
    /// The first line of the error, without "error: ".
    [[nodiscard]] std::string fault(const std::string& text) const {
        const std::string whole = failure_of(text);
        return whole.substr(7, whole.find('\n') - 7);
    }
};

TEST_F(CustomizationsTest, accounts) {
    const Blueprint blueprint = read(
        "[[customizations.user]]\nname = \"a\"\npassword = "
        "\"$6$salt$wZU8LXJfJJqoagopbB7RuK6JEotEMZ0CQDy0phpPAuLMYQFcmf6L6BdAbs/"
        "Q7w7o1qsZ9pFqFVY4yuUSWgaYt1\"\nexpiredate = 12345\n"
        "force_password_reset = true\n[accounts]\nuids = { chrony = 994 }\ngids = { render = 105 "
        "}\n");
    EXPECT_EQ(blueprint.users[0].expire_date, 12345U);
    EXPECT_TRUE(blueprint.users[0].force_password_reset);
    EXPECT_EQ(blueprint.accounts.uids.at("chrony"), 994U);
    EXPECT_EQ(blueprint.accounts.gids.at("render"), 105U);
    EXPECT_EQ(blueprint.accounts.location.line, 7U);
    EXPECT_EQ(fault("[[customizations.user]]\nname = \"a\"\nforce_password_reset = true\n"),
              "b.toml:4:24: user \"a\" has no password to change at the first login");
    for (const char* none : {"*", "!", "!!", ""}) {
        EXPECT_THAT(fault(fmt::format("[[customizations.user]]\nname = \"a\"\npassword = \"{}\"\n"
                                      "force_password_reset = true\n",
                                      none)),
                    testing::HasSubstr("b.toml:"));
    }
    EXPECT_EQ(fault("[accounts]\nuids = { a = 5, b = 5 }\n"),
              "b.toml:3:21: users \"a\" and \"b\" have one number: 5");
    EXPECT_EQ(fault("[accounts]\nuids = { \"a b\" = 5 }\n"),
              "b.toml:3:18: invalid user name \"a b\"");
    EXPECT_EQ(fault("[accounts]\ngids = { root = 0 }\n"),
              "b.toml:3:17: \"accounts.gids.root\" must be between 1 and 4294967294, not 0");
}

TEST_F(CustomizationsTest, firewall) {
    const Blueprint blueprint = read(
        "[customizations.firewall]\nports = [\"22:tcp\", \"8000-8010:udp\", \"imap:tcp\"]\n"
        "[customizations.firewall.services]\nenabled = [\"http\"]\ndisabled = [\"telnet\"]\n"
        "[[customizations.firewall.zones]]\nname = \"trusted\"\n"
        "sources = [\"10.42.0.0/16\", \"fd00::1\", \"ipset:fleet\", \"00:11:22:33:44:ff\"]\n");
    ASSERT_TRUE(blueprint.firewall);
    EXPECT_EQ(blueprint.firewall->ports.size(), 3U);
    EXPECT_EQ(blueprint.firewall->enabled_services, std::vector<std::string>{"http"});
    EXPECT_EQ(blueprint.firewall->zones.at("trusted").size(), 4U);

    const std::string ports = "[customizations.firewall]\nports = ";
    for (const std::string port : {"22", "22:icmp", "0:tcp", "65536:tcp", "8010-8000:udp",
                                   "1-2-3:tcp", ":tcp", "-1:tcp", "a b:tcp", "22:tcp:x"}) {
        EXPECT_EQ(fault(ports + "[\"" + port + "\"]\n"),
                  "b.toml:3:10: \"" + port + "\" is not a port of the firewall");
    }
    const std::string zone = "[[customizations.firewall.zones]]\nname = \"a\"\nsources = ";
    for (const std::string source : {"10.0.0.0/33", "fd00::/129", "host.example.com", "10.0.0",
                                     "10.0.0.0/", "10.0.0.0/8/8", "ipset:", "--zone=x"}) {
        EXPECT_EQ(fault(zone + "[\"" + source + "\"]\n"),
                  "b.toml:4:12: \"" + source + "\" is not a source of a firewall zone");
    }
    EXPECT_EQ(fault(zone + "[\"::1\"]\n[[customizations.firewall.zones]]\nname = \"b\"\n"
                           "sources = [\"::1\"]\n"),
              "b.toml:7:12: source \"::1\" is already in firewall zone \"a\"");
    EXPECT_EQ(fault(zone + "[]\n" + zone + "[]\n"), "b.toml:6:8: duplicate firewall zone \"a\"");
    EXPECT_EQ(fault("[[customizations.firewall.zones]]\nname = \"eighteen-letters-x\"\n"),
              "b.toml:3:8: invalid firewall zone \"eighteen-letters-x\"");
    EXPECT_EQ(fault("[customizations.firewall.services]\nenabled = [\"a\"]\ndisabled = [\"a\"]\n"),
              "b.toml:4:12: firewall service \"a\" is both enabled and disabled");
}

TEST_F(CustomizationsTest, certificates_are_parsed) {
    const auto table = [](const std::string& text) {
        return "[customizations.cacerts]\npem_certs = ['''\n" + text + "''']\n";
    };
    const std::string good = test::authority_certificate;
    const Blueprint blueprint = read(table("a comment\n" + good + good));
    ASSERT_EQ(blueprint.ca_certificates.size(), 1U);
    EXPECT_EQ(blueprint.ca_location.line, 3U);
    const std::string begin =
        "b.toml:3:14: \"customizations.cacerts.pem_certs\": not a CA certificate: ";
    EXPECT_EQ(fault(table("hello")), begin + "it has no PEM block \"BEGIN CERTIFICATE\"");
    EXPECT_EQ(fault(table(good.substr(0, 100))), begin + "the PEM block is damaged");
    EXPECT_EQ(fault(table("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")),
              begin + "the PEM block is damaged");
    EXPECT_EQ(fault(table(test::leaf_certificate)),
              begin + "it is not a CA certificate (basicConstraints: CA)");
    EXPECT_EQ(fault(table(good + "-----BEGIN PRIVATE KEY-----\n")),
              begin + "it contains a private key");
}

TEST_F(CustomizationsTest, first_boot_scripts) {
    const std::string script = "[[customizations.firstboot.scripts]]\n";
    const Blueprint blueprint =
        read(script +
             "type = \"custom\"\nname = \"one\"\ncontents = \"echo 1\"\nafter = [\"a.service\"]\n" +
             script + "contents = \"#!/usr/bin/python3\\nprint(2)\\n\"\nignore_failure = true\n" +
             script + "type = \"satellite\"\ncommand = \"curl x | bash\"\n" + script +
             "type = \"aap\"\njob_template_url = \"https://a/it's/\"\nhost_config_key = \"k\"\n"
             "cacerts = ['''\n" +
             test::authority_certificate + "''']\n");
    ASSERT_EQ(blueprint.firstboot.size(), 4U);
    EXPECT_EQ(blueprint.firstboot[0].name, "one");
    EXPECT_EQ(blueprint.firstboot[0].contents, "#!/bin/sh\necho 1\n");
    EXPECT_EQ(blueprint.firstboot[0].after, std::vector<std::string>{"a.service"});
    EXPECT_EQ(blueprint.firstboot[1].name, "custom-2");
    EXPECT_EQ(blueprint.firstboot[1].contents, "#!/usr/bin/python3\nprint(2)\n");
    EXPECT_TRUE(blueprint.firstboot[1].ignore_failure);
    EXPECT_EQ(blueprint.firstboot[2].name, "satellite");
    EXPECT_EQ(blueprint.firstboot[3].contents,
              "#!/bin/sh\nexec curl --fail --silent --show-error --data 'host_config_key=k' "
              "'https://a/it'\\''s/'\n");
    EXPECT_EQ(blueprint.ca_certificates.size(), 1U);

    EXPECT_EQ(fault(script),
              "b.toml:2:1: \"customizations.firstboot.scripts.contents\" is missing");
    EXPECT_EQ(fault(script + "contents = \" \\n\"\n"),
              "b.toml:3:12: \"customizations.firstboot.scripts.contents\" is empty");
    EXPECT_THAT(fault(script + "contents = \"#!/bin/sh\\r\\necho\\r\\n\"\n"),
                testing::HasSubstr("b.toml:3:12: \"customizations.firstboot.scripts.contents\" has "
                                   "lines that end with CR and LF"));
    EXPECT_EQ(fault(script + "name = \"custom-1\"\ncontents = \"x\"\n"),
              "b.toml:3:8: \"custom-1\" is a reserved name of first boot scripts");
    EXPECT_EQ(fault(script + "name = \"../x\"\ncontents = \"x\"\n"),
              "b.toml:3:8: invalid name of a first boot script \"../x\"");
    const std::string twice = script + "name = \"a\"\ncontents = \"x\"\n";
    EXPECT_EQ(fault(twice + twice),
              "b.toml:5:1: duplicate first boot script \"a\" (first at line 2)");
    EXPECT_EQ(fault(script + "type = \"shell\"\ncontents = \"x\"\n"),
              "b.toml:3:8: \"customizations.firstboot.scripts.type\" must be one of \"custom\", "
              "\"satellite\", \"aap\", not \"shell\"");
}

TEST_F(CustomizationsTest, repositories_of_the_device) {
    const std::string table = "[[customizations.repositories]]\n";
    const std::string key =
        "-----BEGIN PGP PUBLIC KEY BLOCK-----\\nx\\n-----END PGP PUBLIC KEY BLOCK-----\\n";
    const Blueprint blueprint = read(
        table + "id = \"extra\"\nbaseurls = [\"https://e/$releasever\"]\ngpgkeys = [\"" + key +
        "\", \"https://e/key\", \"/etc/pki/k\"]\nrepo_gpgcheck = true\npriority = 5\n" + table +
        "id = \"plain\"\nmirrorlist = \"https://e/list\"\nfilename = \"extra\"\nenabled = false\n");
    ASSERT_EQ(blueprint.device_repositories.size(), 2U);
    const DeviceRepository& extra = blueprint.device_repositories[0];
    EXPECT_EQ(extra.filename, "extra.repo");
    EXPECT_EQ(extra.repository.baseurls[0], "https://e/$releasever");
    EXPECT_EQ(extra.repository.gpgkeys,
              (std::vector<std::string>{"file:///etc/pki/rpm-gpg/RPM-GPG-KEY-extra-0",
                                        "https://e/key", "file:///etc/pki/k"}));
    EXPECT_EQ(extra.inline_keys.size(), 1U);
    EXPECT_TRUE(blueprint.repositories.empty()) << "they are not the build's";
    EXPECT_EQ(blueprint.device_repositories[1].filename, "extra.repo");
    EXPECT_FALSE(blueprint.device_repositories[1].repository.repo_gpgcheck);

    EXPECT_EQ(fault(table + "id = \"a\"\n"),
              "b.toml:2:1: repository \"a\" has neither baseurls nor metalink nor mirrorlist");
    EXPECT_EQ(fault(table + "id = \"a\"\nbaseurls = [\"https://e\"]\ngpgcheck = true\n"),
              "b.toml:2:1: repository \"a\" has no gpgkeys to verify signatures with");
    EXPECT_EQ(fault(table + "id = \"a\"\nbaseurls = [\"https://e\"]\nfilename = \"../x\"\n"),
              "b.toml:5:12: \"../x.repo\" cannot be a file of /etc/yum.repos.d");
    EXPECT_EQ(fault(table + "id = \"a\"\nbaseurls = [\"https://e\"]\ngpgkeys = [\"junk\"]\n"),
              "b.toml:5:12: \"customizations.repositories.gpgkeys\" is neither a URL nor a public "
              "key");
    EXPECT_EQ(fault(table + "id = \"main\"\nbaseurls = [\"https://e\"]\n"),
              "b.toml:3:6: \"main\" cannot be the id of a repository: dnf reads its own settings "
              "from a section of this name");
    EXPECT_EQ(fault(table + "id = \"a\"\nbaseurls = []\n"),
              "b.toml:2:1: repository \"a\" has neither baseurls nor metalink nor mirrorlist");
    for (const char* url : {"https://e/a b", "https://e/a,https://f"}) {
        EXPECT_EQ(
            fault(table + "id = \"a\"\nbaseurls = [\"" + url + "\"]\n"),
            "b.toml:4:13: \"customizations.repositories.baseurls\" has a space or a comma: dnf "
            "would read several URLs");
    }
    for (const char* url : {"mirror.example.com/x", "htps://e", "https://", "/srv/repo"}) {
        EXPECT_EQ(fault(table + "id = \"a\"\nmirrorlist = \"" + url + "\"\n"),
                  "b.toml:4:14: \"customizations.repositories.mirrorlist\" is not a URL that dnf "
                  "reads")
            << url;
    }
    EXPECT_EQ(
        fault(table + "id = \"a\"\nbaseurls = [\"https://e\"]\ngpgkeys = [\"https://e/a b\"]\n"),
        "b.toml:5:12: \"customizations.repositories.gpgkeys\" has a space or a comma: dnf would "
        "read several URLs");
}

TEST_F(CustomizationsTest, dnf_subscription_fips_and_image_store) {
    const Blueprint blueprint = read(
        "customizations.fips = true\n[customizations.dnf.config]\nset_releasever = true\n"
        "[customizations.containers-storage]\ndestination-path = "
        "\"/usr/share/containers/storage\"\n"
        "[customizations.rhsm.config.dnf_plugins.product_id]\nenabled = false\n"
        "[customizations.rhsm.config.subscription_manager.rhsm]\nmanage_repos = true\n"
        "[customizations.rhsm.config.subscription_manager.rhsmcertd]\nauto_registration = true\n");
    EXPECT_TRUE(blueprint.fips.enabled);
    EXPECT_EQ(blueprint.device_releasever, "9.4");
    EXPECT_EQ(blueprint.container_store, "/usr/share/containers/storage");
    ASSERT_TRUE(blueprint.subscription);
    EXPECT_EQ(blueprint.subscription->product_id_plugin, false);
    EXPECT_FALSE(blueprint.subscription->subscription_manager_plugin);
    EXPECT_EQ(blueprint.subscription->manage_repos, true);
    EXPECT_EQ(blueprint.subscription->auto_registration, true);
    EXPECT_NE(fault("[customizations.containers-storage]\ndestination-path = "
                    "\"/var/lib/containers/storage\"\n")
                  .find("is where the device has its own images"),
              std::string::npos);
    EXPECT_EQ(fault("[customizations.containers-storage]\ndestination-path = \"/etc/x\"\n"),
              "b.toml:3:20: \"customizations.containers-storage.destination-path\" must be a "
              "directory below /usr or /var, not \"/etc/x\"");
    EXPECT_EQ(
        failure("[ostree]\nref = \"a\"\n[customizations.dnf.config]\nset_releasever = true\n"),
        "error: b.toml:4:18: \"customizations.dnf.config.set_releasever\" needs a version to "
        "set: the blueprint has no distro\n");
}

TEST_F(CustomizationsTest, files_of_the_builder) {
    const std::string table = "[[customizations.files]]\npath = \"/etc/a\"\n";
    EXPECT_EQ(read(table + "uri = \"file:///srv/a\"\n").files[0].source, "/srv/a");
    EXPECT_EQ(read(table + "uri = \"file:///srv/a%20b\"\n").files[0].source, "/srv/a b");
    EXPECT_EQ(fault(table + "uri = \"https://e/a\"\n"),
              "b.toml:4:7: \"customizations.files.uri\" must begin with \"file://\", not "
              "\"https://e/a\"");
    EXPECT_EQ(fault(table + "uri = \"file:///srv/../a\"\n"),
              "b.toml:4:7: \"customizations.files.uri\" must be a path without \"..\", \".\" and "
              "double or trailing slashes, not \"/srv/../a\"");
    EXPECT_EQ(fault(table + "data = \"x\"\nuri = \"file:///a\"\n"),
              "b.toml:5:7: \"customizations.files.data\" and \"customizations.files.uri\" are both "
              "given");
}

}  // namespace edgegpu
