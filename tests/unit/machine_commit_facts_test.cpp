#include "machine/rehearsal/commit_facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/commit_fixture.hpp"

namespace edgegpu {
namespace {

using test::CommitFixture;
using testing::ElementsAre;
using testing::IsEmpty;

class MachineCommitFacts : public testing::Test {
protected:
    void directories(std::initializer_list<const char*> paths) {
        for (const char* path : paths) {
            fixture_.add_directory(path);
        }
    }
    CommitFacts facts() {
        const Commit commit = fixture_.build();
        return commit_facts(RepositoryView(fixture_.repo()).open(commit.checksum));
    }
    CommitFixture fixture_;
};

TEST_F(MachineCommitFacts, OfAnImageWithoutAnything) {
    const CommitFacts found = facts();
    EXPECT_EQ(found.commit.size(), 64U);
    EXPECT_EQ(found.selinux, "");
    EXPECT_THAT(found.users, IsEmpty());
    EXPECT_THAT(found.enabled, IsEmpty());
    EXPECT_EQ(found.greenboot, "");
    EXPECT_FALSE(found.gpu_health);
    EXPECT_FALSE(found.bundle_roots);
    EXPECT_FALSE(found.sshd_config);
    EXPECT_THAT(found.remotes, IsEmpty());
    EXPECT_EQ(found.upgrader, "");
}

TEST_F(MachineCommitFacts, ThePolicyOfUpdatesUpgradesADevice) {
    fixture_.add_file("/usr/bin/ostree", "");
    fixture_.add_file("/usr/bin/rpm-ostree", "");
    EXPECT_EQ(facts().upgrader, "rpm-ostree");
    fixture_.add_file("/usr/bin/edgegpu-update", "");
    EXPECT_EQ(facts().upgrader, "edgegpu-update");
}

TEST_F(MachineCommitFacts, WhetherTheImageHasGpuHealth) {
    directories({"/usr/libexec", "/usr/libexec/edgegpu"});
    EXPECT_FALSE(facts().gpu_health);
    fixture_.add_file("/usr/libexec/edgegpu/gpu-health", "");
    EXPECT_TRUE(facts().gpu_health);
}

TEST_F(MachineCommitFacts, BlacklistsOfFilesAndArguments) {
    directories({"/usr/lib/modprobe.d", "/usr/etc/modprobe.d"});
    fixture_.add_file("/usr/lib/modprobe.d/a.conf", "blacklist gone\n");
    fixture_.add_file("/usr/etc/modprobe.d/a.conf",
                      "# blacklist comment\n  blacklist  snd-pcsp # why\noptions x y\nblacklist\n");
    fixture_.add_file("/usr/etc/modprobe.d/a.conf.bak", "blacklist backup\n");
    fixture_.tree.kernel_arguments = {"modprobe.blacklist=nouveau,nova-core", "quiet"};
    const CommitFacts found = facts();
    EXPECT_THAT(found.blacklisted_modules, ElementsAre("nouveau", "nova_core", "snd_pcsp"));
    EXPECT_THAT(found.kernel_arguments.value(),
                ElementsAre("modprobe.blacklist=nouveau,nova-core", "quiet"));
}

TEST_F(MachineCommitFacts, UsersWithKeysAndTheirShells) {
    directories({"/usr/share", "/usr/share/edgegpu", "/usr/share/edgegpu/authorized_keys.d"});
    fixture_.add_file("/usr/etc/passwd",
                      "operator:x:1000:1000::/home/operator:/bin/bash\nmalformed:x\n");
    fixture_.add_file("/usr/share/edgegpu/authorized_keys.d/operator",
                      "# AAAAcomment\nssh-ed25519 AAAAone a@b\n\nfrom=\"x\" ssh-rsa AAAAtwo c\n");
    fixture_.add_file("/usr/share/edgegpu/authorized_keys.d/empty", "\n");
    const CommitFacts found = facts();
    ASSERT_EQ(found.users.size(), 1U);
    EXPECT_EQ(found.users[0].name, "operator");
    EXPECT_EQ(found.users[0].shell, "/bin/bash");
    EXPECT_THAT(found.users[0].keys, ElementsAre("AAAAone", "AAAAtwo"));
}

TEST_F(MachineCommitFacts, WhetherTheKernelArgumentsOfTheNextCommitAreSet) {
    EXPECT_FALSE(facts().sets_next_arguments);
    directories({"/usr/lib/systemd", "/usr/lib/systemd/system", "/usr/etc/systemd",
                 "/usr/etc/systemd/system"});
    const std::string unit = "/systemd/system/edgegpu-kernel-arguments.service";
    fixture_.add_file("/usr/lib" + unit, "[Service]\nExecStart=/x\n");
    EXPECT_FALSE(facts().sets_next_arguments);
    fixture_.add_file("/usr/lib" + unit, "[Service]\nExecStart=/x\nExecStop=/x\n");
    EXPECT_TRUE(facts().sets_next_arguments);
    fixture_.add_link("/usr/etc" + unit, "/dev/null");
    EXPECT_FALSE(facts().sets_next_arguments);
}

TEST_F(MachineCommitFacts, TheModeOfSelinuxAsItsLibraryReadsIt) {
    directories({"/usr/etc/selinux"});
    for (const auto& [text, mode] :
         {std::pair{"SELINUX=Enforcing\n", "enforcing"},
          std::pair{"SELINUX=permissive # for now\n", "permissive"},
          std::pair{"#SELINUX=enforcing\nSELINUX=disabled\n", "disabled"}}) {
        fixture_.add_file("/usr/etc/selinux/config", text);
        EXPECT_EQ(facts().selinux, mode) << text;
    }
}

TEST_F(MachineCommitFacts, EnabledUnitsWithoutMaskedOnesAndTemplates) {
    directories({"/usr/etc/systemd", "/usr/etc/systemd/system",
                 "/usr/etc/systemd/system/multi-user.target.wants",
                 "/usr/etc/systemd/system/x.service.d"});
    const std::string wants = "/usr/etc/systemd/system/multi-user.target.wants/";
    for (const char* unit :
         {"sshd.service", "masked.service", "x@.service", "greenboot-healthcheck.service"}) {
        fixture_.add_link(wants + unit, std::string("/usr/lib/systemd/system/") + unit);
    }
    fixture_.add_link("/usr/etc/systemd/system/masked.service", "/dev/null");
    const CommitFacts found = facts();
    EXPECT_THAT(found.enabled,
                ElementsAre(EnabledUnit{"greenboot-healthcheck.service", "multi-user.target"},
                            EnabledUnit{"sshd.service", "multi-user.target"}));
    EXPECT_TRUE(found.enables("sshd.service"));
    EXPECT_FALSE(found.enables("ssh"));
    // Enabled, but the image does not have the unit.
    EXPECT_EQ(found.greenboot, "");
}

TEST_F(MachineCommitFacts, EnabledUnitsOfPackagesAndRequiredOnes) {
    const std::string own = "/usr/etc/systemd/system";
    const std::string vendor = "/usr/lib/systemd/system";
    directories({"/usr/etc/systemd", "/usr/etc/systemd/system", "/usr/lib/systemd",
                 "/usr/lib/systemd/system"});
    for (const std::string& directory :
         {own + "/multi-user.target.requires", own + "/multi-user.target.wants",
          vendor + "/multi-user.target.wants", vendor + "/basic.target.requires",
          vendor + "/sysinit.target.wants"}) {
        fixture_.add_directory(directory.c_str());
    }
    for (const char* unit : {"a.service", "b.service", "early.service", "i@.service", "off.service",
                             "unlinked.service"}) {
        fixture_.add_file(vendor + '/' + unit, "[Service]\n");
    }
    fixture_.add_link(own + "/multi-user.target.requires/r.service", "../r.service");
    for (const char* unit : {"a.service", "i@1.service", "off.service", "absent.service",
                             "unlinked.service", "masked.service"}) {
        fixture_.add_link(vendor + "/multi-user.target.wants/" + unit, "../" + std::string(unit));
    }
    fixture_.add_link(vendor + "/basic.target.requires/b.service", "../b.service");
    // Distributions have some there that end, or that others end, while the machine starts.
    fixture_.add_link(vendor + "/sysinit.target.wants/early.service", "../early.service");
    fixture_.add_link(own + "/multi-user.target.wants/a.service", vendor + "/a.service");
    fixture_.add_link(own + "/multi-user.target.wants/unlinked.service", "/dev/null");
    fixture_.add_link(own + "/off.service", "/dev/null");
    fixture_.add_link(vendor + "/masked.service", "/dev/null");
    EXPECT_THAT(facts().enabled, ElementsAre(EnabledUnit{"a.service", "multi-user.target"},
                                             EnabledUnit{"b.service", "basic.target"},
                                             EnabledUnit{"i@1.service", "multi-user.target"},
                                             EnabledUnit{"r.service", "multi-user.target"}));
}

TEST_F(MachineCommitFacts, RemotesAndWhetherTheyVerify) {
    directories({"/usr/etc/ostree", "/usr/etc/ostree/remotes.d"});
    fixture_.add_file("/usr/etc/ostree/remotes.d/a.conf", "[remote \"a\"]\nurl=http://x\n");
    fixture_.add_file("/usr/etc/ostree/remotes.d/b.conf",
                      "[remote \"b\"]\nurl=http://x\ngpg-verify = false\n");
    fixture_.add_file("/usr/etc/ostree/remotes.d/c.conf",
                      "[remote \"c\"]\ngpg-verify=false\nsign-verify=ed25519\n");
    fixture_.add_file("/usr/etc/ostree/remotes.d/d.conf",
                      "[remote \"d\"]\ngpg-verify=0\n[remote \"e\"]\ngpg-verify=true\n"
                      "[remote \"\"]\n[other]\ngpg-verify=false\n");
    fixture_.add_file("/usr/etc/ostree/remotes.d/e.conf", "[remote \"f\"]\ngpg-verify=perhaps\n");
    fixture_.add_file("/usr/etc/ostree/remotes.d/f.conf", "[remote \"g\nno key file");
    const CommitFacts found = facts();
    ASSERT_EQ(found.remotes.size(), 6U);
    EXPECT_EQ(found.remotes[0].name, "a");
    EXPECT_EQ(found.remotes[0].file, "/etc/ostree/remotes.d/a.conf");
    EXPECT_TRUE(found.remotes[0].verifies);
    EXPECT_FALSE(found.remotes[1].verifies);
    EXPECT_TRUE(found.remotes[2].verifies);
    EXPECT_EQ(found.remotes[3].name, "d");
    EXPECT_FALSE(found.remotes[3].verifies);
    EXPECT_EQ(found.remotes[4].name, "e");
    EXPECT_TRUE(found.remotes[4].verifies);
    EXPECT_FALSE(found.remotes[5].verifies);
}

TEST_F(MachineCommitFacts, PortsAndServicesOfFirewalldsDefaultZone) {
    directories({"/usr/etc/firewalld", "/usr/etc/firewalld/zones"});
    fixture_.add_file("/usr/etc/firewalld/firewalld.conf", "# DefaultZone=x\nDefaultZone=edge\n");
    fixture_.add_file(
        "/usr/etc/firewalld/zones/edge.xml",
        "<zone>\n  <service name=\"ssh\"/>\n  <port protocol=\"tcp\" port=\"6443\"/>\n"
        "  <port port=\"53\" protocol=\"udp\"/>\n</zone>\n");
    const CommitFacts found = facts();
    EXPECT_EQ(found.firewalld.name, "edge");
    EXPECT_THAT(found.firewalld.ports, ElementsAre("6443/tcp", "53/udp"));
    EXPECT_THAT(found.firewalld.services, ElementsAre("ssh"));
}

}  // namespace
}  // namespace edgegpu
