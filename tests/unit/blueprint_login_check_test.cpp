#include "unit/blueprint_testing.hpp"

namespace edgegpu {

namespace {

const std::string repository =
    "[[repositories]]\nid = \"a\"\nbaseurl = \"/x\"\ngpgkey = \"/etc/pki/x\"\n";
const std::string public_key =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOLnNw5NA5MJilctpDqs5ON27MVyUp2mYVcMjMFgiAlq";
const std::string with_key = "key = \"" + public_key + "\"\n";
const std::string user = "[[customizations.user]]\nname = \"op\"\n";
const std::string way_out =
    "hint: add a [[customizations.user]] with a key or password; or say that users are added when "
    "a device is installed: [accounts] login = \"provisioned\", or that nobody is to log in: login "
    "= \"none\"\n";
const std::string nobody =
    "error: b.toml:1:1: nobody could log in: the image has no user with a password or key\n" +
    way_out;
const std::string drop_in = "/etc/ssh/sshd_config.d/10-x.conf";

/// A file of the image.
std::string file(const std::string& path, const std::string& content) {
    return "[[customizations.files]]\npath = \"" + path + "\"\ndata = '''\n" + content + "'''\n";
}

std::string script(const std::string& text) {
    return "[[customizations.firstboot.scripts]]\ncontents = '''\n#!/bin/sh\n" + text + "\n'''\n";
}

}  // namespace

class LoginCheckTest : public BlueprintTest {
protected:
    [[nodiscard]] std::string check(const std::string& text,
                                    const std::string& distro = "lab-12") const {
        return failure("distro = \"" + distro + "\"\n" + repository + text, true);
    }
    [[nodiscard]] std::vector<std::string> warned(const std::string& text) const {
        return warnings_of("distro = \"lab-12\"\n" + repository + text);
    }
};

TEST_F(LoginCheckTest, users_need_what_they_log_in_with) {
    EXPECT_EQ(check(""), nobody);
    for (const std::string& locked :
         {std::string(), std::string("password = \"!\"\n"),
          "shell = \"/sbin/nologin\"\n" + with_key,
          with_key + "[customizations.services]\ndisabled = [\"sshd\"]\n",
          with_key + "[[systemd.units]]\nname = \"sshd.service\"\nstate = \"masked\"\n"}) {
        EXPECT_EQ(check(user + locked),
                  "error: b.toml:6:1: nobody could log in: no user has a password or key with "
                  "which one could log in\n" +
                      way_out)
            << locked;
    }
    const std::string password =
        "password = \"$6$salt$qFmFH.bQmmtXzyBY0s9v7Oicd2z4XSIecDzlB5KiA2/"
        "jctKu9YterLp8wwnSq.qc.eoxqOmSuNp2xS0ktL3nh/\"\n";
    for (const std::string& way :
         {user + with_key, user + password,
          user + password + "[customizations.services]\ndisabled = [\"sshd\"]\n",
          std::string("[accounts]\nlogin = \"provisioned\"\n"),
          std::string("[accounts]\nlogin = \"none\"\n")}) {
        EXPECT_EQ(check(way), "no error") << way;
    }
    EXPECT_EQ(check("[accounts]\nlogin = \"nobody\"\n"),
              "error: b.toml:7:9: \"accounts.login\" must be one of \"image\", \"provisioned\", "
              "\"none\", not \"nobody\"\n");
}

/// Image builder's edge commits have no users: FDO, Ignition or a kickstart file adds them. That
/// one of these will is for the blueprint to say.
TEST_F(LoginCheckTest, a_package_set_lets_nobody_in) {
    EXPECT_EQ(check("", "rhel-9.4"), nobody);
    EXPECT_EQ(check("[accounts]\nlogin = \"provisioned\"\n", "rhel-9.4"), "no error");
    EXPECT_EQ(check(user + with_key, "rhel-9.4"), "no error");
}

TEST_F(LoginCheckTest, packages_that_add_users_at_the_installation) {
    for (const std::string package : {"cloud-init", "ignition", "fdo-client", "flightctl-agent"}) {
        EXPECT_EQ(warned("[[packages]]\nname = \"" + package + "\"\n"),
                  std::vector<std::string>{
                      "b.toml:1:1: nobody can log in unless " + package +
                      " adds a user: the image has no user with a password or key. If so, say it: "
                      "[accounts] login = \"provisioned\""})
            << package;
    }
    for (const char* package : {"sssd", "ipa-client", "realmd", "openssh-server"}) {
        EXPECT_EQ(check("[[packages]]\nname = \"" + std::string(package) + "\"\n"), nobody)
            << package << " needs a configuration first";
    }
}

/// What a file is called says nothing; a drop-in may just as well shut somebody out.
TEST_F(LoginCheckTest, files_count_by_their_content) {
    const std::string keys = file("/etc/ssh/authorized_keys.d/op", public_key + "\n");
    for (const std::string& way :
         {file(drop_in, "TrustedUserCAKeys /etc/ssh/ca.pub\n"),
          file(drop_in, "  trustedusercakeys=/etc/ssh/ca.pub\n"),
          file("/etc/ssh/sshd_config", "AuthorizedKeysCommand /usr/bin/sss_ssh_authorizedkeys\n"),
          file(drop_in, "AuthorizedKeysFile .ssh/authorized_keys /etc/ssh/authorized_keys.d/%u\n") +
              keys,
          file("/etc/skel/.ssh/authorized_keys", public_key + "\n") + user,
          file("/etc/sssd/sssd.conf", "[sssd]\ndomains = x\n[domain/x]\nid_provider = ldap\n"),
          file("/etc/cloud/cloud.cfg.d/10-x.cfg", "ssh_authorized_keys:\n  - " + public_key + "\n"),
          file("/etc/cloud/cloud.cfg", "users:\n  - name: op\n"),
          file("/etc/cloud/cloud.cfg.d/90-x.cfg", "datasource_list: [ NoCloud ]\n"),
          file("/usr/lib/ignition/user.ign",
               "{\"passwd\": {\"users\": [{\"name\": \"op\", \"sshAuthorizedKeys\": []}]}}\n"),
          file("/etc/flightctl/config.yaml", "enrollment-service:\n  service: {}\n"),
          file("/etc/systemd/system/getty@tty1.service.d/a.conf",
               "[Service]\nExecStart=\nExecStart=-/sbin/agetty --autologin op %I\n")}) {
        EXPECT_EQ(check(way), "no error") << way;
    }
    for (const std::string& none :
         {file(drop_in, "PermitRootLogin no\n"),
          file(drop_in, "#TrustedUserCAKeys /x\n"),
          file(drop_in, "TrustedUserCAKeys none\nAuthorizedKeysCommand none\n"),
          file(drop_in, "PasswordAuthentication no\nBanner /etc/issue.net\n"),
          file("/etc/ssh/sshd_config.d/README", "TrustedUserCAKeys /x\n"),
          file(drop_in, "AuthorizedKeysFile .ssh/authorized_keys %h/keys\n"),
          file(drop_in, "AuthorizedKeysFile /etc/ssh/authorized_keys.d/%u\n"),
          keys,
          file(drop_in, "AuthorizedKeysFile /etc/ssh/others/%u\n") + keys,
          file("/etc/skel/.ssh/authorized_keys", public_key + "\n"),
          file("/etc/sssd/sssd.conf", "[sssd]\nservices = nss\n#[domain/x]\n"),
          file("/etc/sssd/conf.d/x", "[domain/x]\n"),
          file("/etc/sssd/pki/ca.pem", "[domain/x]\n"),
          file("/etc/cloud/cloud.cfg.d/10-x.cfg", "preserve_hostname: true\n# users:\n"),
          file("/etc/cloud/cloud.cfg", "datasource_list: [ None ]\nusers: []\n"),
          file("/etc/cloud/templates/hosts.tmpl", "users:\n  - op\n"),
          file("/usr/lib/ignition/base.ign", "{\"systemd\": {}}\n"),
          file("/etc/flightctl/config.yaml", "log-level: debug\n"),
          file("/etc/systemd/system/getty@tty1.service.d/a.conf", "[Service]\nRestart=no\n"),
          file(drop_in, "TrustedUserCAKeys /etc/ssh/ca.pub\n") +
              "[customizations.services]\nmasked = [\"sshd.service\"]\n"}) {
        EXPECT_EQ(check(none), nobody) << none;
    }
}

TEST_F(LoginCheckTest, overlays_count_by_their_content) {
    put("node/etc/ssh/sshd_config.d/10-x.conf", "PermitRootLogin no\n");
    EXPECT_EQ(check("[[overlays]]\nsource = \"./node\"\n"), nobody);
    put("node/etc/ssh/sshd_config.d/20-ca.conf", "TrustedUserCAKeys /etc/ssh/ca.pub\n");
    EXPECT_EQ(check("[[overlays]]\nsource = \"./node\"\n"), "no error");
}

TEST_F(LoginCheckTest, scripts_that_give_a_credential) {
    for (const char* way :
         {"echo \"op:$(cat /etc/op)\" | chpasswd -e", "passwd --stdin op </run/op",
          "/usr/bin/passwd op", "useradd -m -p \"$hash\" op", "usermod --password \"$hash\" root",
          "install -m 600 k /root/.ssh/authorized_keys", "ipa-client-install --unattended",
          "realm join example.com", "newusers </etc/users", "if x; then chpasswd <f; fi"}) {
        EXPECT_EQ(check(script(way)), "no error") << way;
    }
    for (const char* none :
         {"hostnamectl set-hostname x", "useradd op", "useradd --system exporter",
          "# echo op:x | chpasswd", "passwd -l root", "passwd --lock root", "usermod -L root",
          "grep -q root /etc/passwd", "usermod -aG wheel op", "systemctl enable sshd"}) {
        EXPECT_EQ(check(script(none)), nobody) << none;
    }
}

TEST_F(LoginCheckTest, units_that_let_somebody_in) {
    const auto unit = [](const std::string& line) {
        return "[[systemd.units]]\nname = \"x.service\"\ncontents = '''\n[Service]\n" + line +
               "\n'''\n";
    };
    EXPECT_EQ(check("[[systemd.units]]\nname = \"getty@tty1.service\"\ndrop_ins = { \"a.conf\" = "
                    "\"ExecStart=-/sbin/agetty --autologin op\" }\n"),
              "no error");
    EXPECT_EQ(check(unit("ExecStart=/bin/sh -c 'chpasswd -e </run/users'")), "no error");
    EXPECT_EQ(check(unit("ExecStart=/usr/bin/true")), nobody);
}

}  // namespace edgegpu
