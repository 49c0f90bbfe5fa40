#include "blueprint/sources/path_modes.hpp"

#include <gtest/gtest.h>

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
                            {"/usr/share/x", 0644}}) {
        EXPECT_EQ(usual_mode(one.path, false, false), one.mode) << one.path;
        EXPECT_EQ(mode_fault(one.path, one.mode), "") << one.path;
    }
    EXPECT_EQ(usual_mode("/etc/cron.d/x", true, false), 0644U) << "cron refuses what is executable";
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
    EXPECT_EQ(mode_fault("/etc/x", 0666), "");
}

}  // namespace
}  // namespace edgegpu
