#include "blueprint/sources/path_modes.hpp"

#include <gtest/gtest.h>

#include "blueprint/sources/unread_names.hpp"

namespace edgegpu {
namespace {

TEST(PathModes, WhatReadersInsistOn) {
    struct Case {
        const char* path;
        unsigned mode;
    };
    for (const Case& one : {Case{"/etc/NetworkManager/system-connections/x.nmconnection", 0600},
                            {"/etc/NetworkManager/dispatcher.d/pre-up.d/10-x", 0755},
                            {"/etc/sudoers.d/op", 0440},
                            {"/etc/cron.d/x", 0644},
                            {"/etc/cron.daily/x", 0755},
                            {"/etc/ssh/ssh_host_ed25519_key", 0600},
                            {"/etc/ssh/ssh_host_ed25519_key.pub", 0644},
                            {"/etc/ssh/authorized_keys.d/op", 0644},
                            {"/etc/sssd/conf.d/x.conf", 0600},
                            {"/etc/usbguard/rules.conf", 0600},
                            {"/etc/pki/tls/private/x.key", 0600},
                            {"/etc/pki/tls/certs/x.crt", 0644},
                            {"/etc/wireguard/wg0.conf", 0600},
                            {"/etc/crio/openshift-pull-secret", 0600},
                            {"/usr/bin/tool", 0755},
                            {"/root/.ssh/id_ed25519", 0600},
                            {"/root/.ssh/id_ed25519.pub", 0644},
                            {"/root/.ssh/config", 0600},
                            {"/var/roothome/.ssh/deploy", 0600},
                            {"/etc/skel/.ssh/authorized_keys", 0600},
                            {"/var/home/op/.pgpass", 0600},
                            {"/root/.netrc", 0600},
                            {"/etc/openvpn/client/x.key", 0600},
                            {"/etc/openvpn/x.conf", 0600},
                            {"/var/spool/cron/root", 0600},
                            {"/etc/logrotate.d/x", 0644},
                            {"/etc/audit/rules.d/x.rules", 0600},
                            {"/etc/audit/auditd.conf", 0640},
                            {"/etc/strongswan/swanctl/private/x.pem", 0600},
                            {"/etc/swanctl/private/x.pem", 0600},
                            {"/etc/strongswan/ipsec.secrets", 0600},
                            {"/etc/polkit-1/rules.d/10-x.rules", 0644},
                            {"/etc/chrony.keys", 0640},
                            {"/etc/security/opasswd", 0600},
                            {"/etc/httpd/http.keytab", 0600},
                            {"/etc/postfix/sasl_passwd", 0600},
                            {"/etc/kernel/install.d/90-x.install", 0755},
                            {"/usr/lib/systemd/system-environment-generators/x", 0755},
                            {"/var/lib/cloud/scripts/per-boot/x", 0755},
                            {"/usr/share/x", 0644}}) {
        EXPECT_EQ(usual_mode(one.path, false, false), one.mode) << one.path;
        EXPECT_EQ(mode_fault(one.path, one.mode), "") << one.path;
    }
    EXPECT_EQ(usual_mode("/etc/cron.d/x", true, false), 0644U) << "cron refuses what is executable";
    EXPECT_EQ(usual_mode("/etc/logrotate.d/x", true, false), 0644U);
    EXPECT_EQ(usual_mode("/etc/openvpn/up.sh", true, false), 0755U) << "OpenVPN runs it";
    EXPECT_EQ(usual_mode("/etc/wireguard/up", true, false), 0755U) << "wg-quick runs it";
    EXPECT_EQ(usual_mode("/etc/wireguard/wg0.conf", true, false), 0600U);
    EXPECT_EQ(usual_mode("/etc/x", true, false), 0755U);
    EXPECT_EQ(usual_mode("/etc/x", false, true), 0600U);
}

TEST(PathModes, WhatReadersRefuse) {
    EXPECT_EQ(mode_fault("/etc/NetworkManager/system-connections/x", 0644),
              "NetworkManager ignores connections that others can read");
    EXPECT_EQ(mode_fault("/etc/NetworkManager/system-connections/x", 0640),
              "NetworkManager ignores connections that others can read");
    EXPECT_EQ(mode_fault("/etc/sudoers.d/op", 0640), "");
    EXPECT_EQ(mode_fault("/etc/sudoers.d/op", 0660), "sudo ignores rules that others can change");
    EXPECT_EQ(mode_fault("/etc/cron.d/x", 0600), "");
    EXPECT_NE(mode_fault("/etc/cron.d/x", 0755), "");
    EXPECT_NE(mode_fault("/etc/ssh/authorized_keys.d/op", 0600), "") << "sshd reads it as the user";
    EXPECT_NE(mode_fault("/usr/bin/tool", 0644), "");
    EXPECT_EQ(mode_fault("/root/.ssh/deploy", 0640),
              "ssh ignores private keys that others can read");
    EXPECT_EQ(mode_fault("/root/.ssh/id_rsa.pub", 0644), "");
    EXPECT_NE(mode_fault("/etc/skel/.ssh/authorized_keys", 0664), "");
    EXPECT_EQ(mode_fault("/root/.ssh/known_hosts", 0644), "");
    EXPECT_NE(mode_fault("/var/spool/cron/root", 0700), "");
    EXPECT_NE(mode_fault("/etc/logrotate.d/x", 0755), "");
    EXPECT_NE(mode_fault("/etc/polkit-1/rules.d/x.rules", 0600), "") << "polkitd is not root";
    EXPECT_NE(mode_fault("/etc/openvpn/client.key", 0644), "");
    EXPECT_NE(mode_fault("/etc/openvpn/client.key", 0755), "");
    EXPECT_EQ(mode_fault("/etc/openvpn/up.sh", 0755), "");
    EXPECT_EQ(mode_fault("/etc/x", 0666), "");
}

TEST(UnreadNames, TheSentenceHasTheNameThatWouldBeRead) {
    EXPECT_EQ(unread_name("/etc/sysctl.d/99-site"),
              "systemd-sysctl reads only names that end with .conf: /etc/sysctl.d/99-site.conf");
    EXPECT_EQ(unread_name("/etc/sudoers.d/10.site"),
              "sudo reads no names with a dot: /etc/sudoers.d/10-site");
    EXPECT_EQ(unread_name("/etc/sudoers.d/site~"),
              "sudo reads no names that end with ~: /etc/sudoers.d/site");
    EXPECT_EQ(unread_name("/etc/NetworkManager/system-connections/lan.rpmnew"),
              "NetworkManager reads no names that end with .rpmnew: "
              "/etc/NetworkManager/system-connections/lan");
    EXPECT_EQ(unread_name("/etc/systemd/network/10-lan"),
              "systemd-networkd or udev reads only names that end with one of .network .netdev "
              ".link: /etc/systemd/network/10-lan.network");
    EXPECT_EQ(unread_name("/usr/lib/systemd/system/a.service.d/limits"),
              "systemd reads only names that end with .conf: "
              "/usr/lib/systemd/system/a.service.d/limits.conf");
    EXPECT_EQ(unread_name("/etc/systemd/journald.conf.d/x"),
              "systemd reads only names that end with .conf: /etc/systemd/journald.conf.d/x.conf");
}

TEST(UnreadNames, WhatIsReadAndWhatNobodyKnowsIsLeftAlone) {
    for (const char* path :
         {"/etc/sysctl.d/99-site.conf", "/etc/sysctl.d/README", "/etc/sysctl.d/.gitkeep",
          "/etc/sudoers.d/site", "/etc/cron.d/site.hourly", "/etc/profile.d/sh.local",
          "/etc/NetworkManager/system-connections/lan", "/etc/logrotate.d/site.log",
          "/etc/systemd/system/a.service", "/etc/systemd/system/a.service.d/b.conf",
          "/etc/systemd/system/multi-user.target.wants/a.service", "/etc/modprobe.d/x.alias",
          "/etc/systemd/journald.conf", "/etc/sysctl.conf", "/opt/x.d/y", "/etc/crio/crio.conf.d/x",
          "/etc/pki/ca-trust/source/anchors/site"}) {
        EXPECT_FALSE(unread_name(path)) << path << ": " << unread_name(path).value_or("");
    }
}

}  // namespace
}  // namespace edgegpu
