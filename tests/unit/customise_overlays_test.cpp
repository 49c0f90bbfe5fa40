#include <gtest/gtest.h>

#include "customise/files/overlays.hpp"
#include "customise_fixture.hpp"
#include "pipeline/snapshot.hpp"
#include "tar_fixture.hpp"

namespace edgegpu::test {
namespace {

class Overlays : public TreeTest {
protected:
    void SetUp() override {
        TreeTest::SetUp();
        accounts();
        make_directories(scratch / "overlay");
        overlay.source = scratch / "overlay";
        overlay.location = {"b.toml", 5, 1};
    }
    void add() {
        Blueprint blueprint;
        blueprint.overlays = {overlay};
        add_overlays(ctx, take_snapshot(ctx, blueprint).overlays, modes, tree);
    }
    std::string failure() {
        std::string text = error_of([&] { add(); });
        const std::string prefix = scratch.string() + "/";
        const std::size_t at = text.find(prefix);
        return at == std::string::npos ? text : text.erase(at, prefix.size());
    }
    OverlayRule& rule(const std::string& path) {
        OverlayRule fresh;
        fresh.path = path;
        fresh.location = {"b.toml", 8 + static_cast<unsigned>(overlay.rules.size()), 1};
        return overlay.rules.emplace_back(fresh);
    }
    OverlayRequest overlay;
};

TEST_F(Overlays, ModesDoNotDependOnTheBuilder) {
    host_file("overlay/etc/x/conf", "a", 0600);
    std::filesystem::create_symlink("/no/such/place", scratch / "overlay/etc/x/link");
    host_file("overlay/usr/bin/tool", "#!/bin/sh\n", 04700);
    overlay.group = "chrony";
    add();
    EXPECT_EQ(tree.entries.at("/usr/bin/tool").mode, 0755U);
    EXPECT_EQ(tree.entries.at("/etc/x/conf").mode, 0644U);
    EXPECT_EQ(tree.entries.at("/etc/x/conf").gid, 991U);
    EXPECT_EQ(tree.entries.at("/etc/x/link").target, "/no/such/place");
    EXPECT_EQ(tree.entries.at("/usr").gid, 0U);
    EXPECT_EQ(console.warnings(),
              std::vector<std::string>{"setuid, setgid and capabilities of overlay files are "
                                       "dropped unless a rule sets their mode: /usr/bin/tool"});
}

TEST_F(Overlays, ArchivesKeepTheirModes) {
    overlay.source = scratch / "v.tar";
    overlay.target = "/opt/vendor";
    overlay.strip_components = 1;
    host_file("v.tar", tar_archive({{"v-1/bin/tool", '0', "tool", "", 0700},
                                    {"v-1/bin/again", '1', "", "v-1/bin/tool", 0700},
                                    {"v-1/etc/conf", '0', "conf", "", 0600}}));
    add();
    EXPECT_EQ(text("/opt/vendor/bin/tool"), "tool");
    EXPECT_EQ(tree.entries.at("/opt/vendor/bin/tool").mode, 0700U);
    EXPECT_EQ(tree.entries.at("/opt/vendor/bin/tool").uid, 0U);
    EXPECT_EQ(text("/opt/vendor/bin/again"), "tool");
    EXPECT_EQ(tree.entries.at("/opt/vendor/etc/conf").mode, 0600U);
    EXPECT_EQ(tree.entries.at("/opt/vendor/etc").mode, 0755U) << "it is not in the archive";
    EXPECT_TRUE(std::filesystem::is_empty(ctx.cache / "work"));
}

/// git keeps no more of a mode than whether a file is executable.
TEST_F(Overlays, FilesGetTheModesThatTheirReadersInsistOn) {
    for (const unsigned umask : {0600U, 0644U, 0666U}) {
        host_file("overlay/etc/NetworkManager/system-connections/lan.nmconnection", "[ipv4]\n",
                  umask);
        host_file("overlay/etc/sudoers.d/op", "op ALL=(ALL) ALL\n", umask);
        host_file("overlay/etc/cron.d/x", "", 0755);
        host_file("overlay/etc/NetworkManager/dispatcher.d/10-x", "#!/bin/sh\n", umask);
        host_file("overlay/usr/bin/tool", "#!/bin/sh\n", umask);
        host_file("overlay/usr/libexec/v/helper", "#!/bin/sh\n", umask);
        host_file("overlay/usr/libexec/v/data", "x", umask);
        overlay.replace = true;
        overlay.user = "chrony";
        add();
        EXPECT_EQ(tree.entries.at("/etc/NetworkManager/system-connections/lan.nmconnection").mode,
                  0600U);
        EXPECT_EQ(tree.entries.at("/etc/NetworkManager/system-connections/lan.nmconnection").uid,
                  0U);
        EXPECT_EQ(tree.entries.at("/etc/sudoers.d/op").mode, 0440U);
        EXPECT_EQ(tree.entries.at("/etc/sudoers.d/op").uid, 0U);
        EXPECT_EQ(tree.entries.at("/etc/cron.d/x").mode, 0644U);
        EXPECT_EQ(tree.entries.at("/etc/NetworkManager/dispatcher.d/10-x").mode, 0755U);
        EXPECT_EQ(tree.entries.at("/usr/bin/tool").mode, 0755U);
        EXPECT_EQ(tree.entries.at("/usr/bin/tool").uid, 990U);
        EXPECT_EQ(tree.entries.at("/usr/libexec/v/helper").mode, 0755U);
        EXPECT_EQ(tree.entries.at("/usr/libexec/v/data").mode, 0644U);
    }
    EXPECT_TRUE(console.warnings().empty());
}

TEST_F(Overlays, TheBuildSaysWhichModesItChose) {
    std::string said;
    ConsoleOutput output;
    output.write = [&](std::string_view text) { said += text; };
    Console loud(output);
    ctx.console = &loud;
    host_file("overlay/etc/sudoers.d/op", "x", 0644);
    add();
    modes.finish();
    EXPECT_NE(
        said.find("mode 0440 for /etc/sudoers.d/op: sudo ignores rules that others can change"),
        std::string::npos)
        << said;
}

TEST_F(Overlays, ExplicitRulesWinAndAreWarnedOf) {
    host_file("overlay/etc/NetworkManager/system-connections/a", "x");
    host_file("overlay/etc/sudoers.d/op", "x");
    rule("/etc/NetworkManager/**").mode = 0644;
    rule("/etc/sudoers.d/*").mode = 0400;
    overlay.rules.back().user = "chrony";
    add();
    EXPECT_EQ(tree.entries.at("/etc/NetworkManager/system-connections/a").mode, 0644U);
    EXPECT_EQ(tree.entries.at("/etc/sudoers.d/op").mode, 0400U);
    EXPECT_EQ(tree.entries.at("/etc/sudoers.d/op").uid, 990U);
    EXPECT_EQ(console.warnings(),
              (std::vector<std::string>{
                  "the mode that is set: NetworkManager ignores connections that others can read: "
                  "/etc/NetworkManager/system-connections/a",
                  "it must be root's: sudo ignores rules that others can change: "
                  "/etc/sudoers.d/op"}));
}

TEST_F(Overlays, AModeInAnArchiveThatItsReaderRefusesIsMended) {
    overlay.source = scratch / "v.tar";
    host_file("v.tar", tar_archive({{"etc/sudoers.d/a", '0', "x", "", 0666},
                                    {"etc/sudoers.d/b", '0', "x", "", 0400},
                                    {"usr/bin/tool", '0', "x", "", 0600}}));
    add();
    EXPECT_EQ(tree.entries.at("/etc/sudoers.d/a").mode, 0440U);
    EXPECT_EQ(tree.entries.at("/etc/sudoers.d/b").mode, 0400U);
    EXPECT_EQ(tree.entries.at("/usr/bin/tool").mode, 0755U);
}

TEST_F(Overlays, AFileWithAnAllowedSecretIsForItsOwnerAlone) {
    host_file("overlay/etc/app/key.pem", "x", 0644);
    host_file("overlay/etc/app/conf", "x", 0644);
    FileModes own(ctx, {{"/etc/app/*.pem", "", "a test", {}}});
    Blueprint blueprint;
    blueprint.overlays = {overlay};
    add_overlays(ctx, take_snapshot(ctx, blueprint).overlays, own, tree);
    EXPECT_EQ(tree.entries.at("/etc/app/key.pem").mode, 0600U);
    EXPECT_EQ(tree.entries.at("/etc/app/conf").mode, 0644U);
}

TEST_F(Overlays, TheLastRuleThatFitsWinsKeyByKey) {
    host_file("overlay/usr/lib/v/a", "a", 0600);
    host_file("overlay/usr/lib/v/helper", "b", 0600);
    rule("/usr/lib/v/**").user = "chrony";
    overlay.rules.back().mode = 0640;
    rule("/usr/lib/v/helper").mode = 04755;
    add();
    EXPECT_EQ(tree.entries.at("/usr/lib/v/a").mode, 0640U);
    EXPECT_EQ(tree.entries.at("/usr/lib/v/helper").mode, 04755U);
    EXPECT_EQ(tree.entries.at("/usr/lib/v/helper").uid, 990U);
    EXPECT_EQ(tree.entries.at("/usr/lib/v").uid, 0U);
    rule("/usr/lib/v/a").user = "chroni";
    EXPECT_EQ(failure(), "b.toml:10:1: the image has no user 'chroni'|did you mean 'chrony'?");
}

TEST_F(Overlays, ReplacesOnlyWhenTold) {
    host_file("overlay/usr/bin/bash", "other", 0644);
    EXPECT_EQ(failure(),
              "b.toml:5:1: overlay overlay: /usr/bin/bash is already in the image|"
              "set 'replace = true' on the overlay to replace it");
    overlay.replace = true;
    add();
    EXPECT_EQ(text("/usr/bin/bash"), "other");
    EXPECT_EQ(tree.entries.at("/usr/bin/bash").mode, 0755U);
}

/// A copy of what a package has, without the modes that git does not keep.
TEST_F(Overlays, TheSameFileKeepsWhatItsPackageGaveIt) {
    file("/usr/bin/su", "su", 04755);
    file("/etc/keys", "k", 0640);
    file("/usr/bin/ping", "ping", 0755);
    tree.entries.at("/etc/keys").gid = 991;
    tree.entries.at("/usr/bin/ping").capabilities = "net_raw";
    host_file("overlay/usr/bin/su", "su", 0755);
    host_file("overlay/usr/bin/ping", "ping", 0755);
    host_file("overlay/etc/keys", "k", 0644);
    add();
    EXPECT_EQ(tree.entries.at("/usr/bin/su").mode, 04755U);
    EXPECT_EQ(tree.entries.at("/usr/bin/ping").capabilities, "net_raw");
    EXPECT_EQ(tree.entries.at("/etc/keys").mode, 0640U);
    EXPECT_EQ(tree.entries.at("/etc/keys").gid, 991U);
    EXPECT_TRUE(console.warnings().empty());
    rule("/etc/keys").mode = 0600;
    add();
    EXPECT_EQ(tree.entries.at("/etc/keys").mode, 0600U);
    EXPECT_EQ(tree.entries.at("/etc/keys").gid, 991U);
    overlay.replace = true;
    add();
    EXPECT_EQ(tree.entries.at("/usr/bin/su").mode, 0755U);
    EXPECT_EQ(tree.entries.at("/usr/bin/ping").capabilities, "");
    const std::string lost =
        "it replaces a program with set-id bits or capabilities, and has none unless a rule sets "
        "its mode: ";
    EXPECT_EQ(console.warnings(),
              (std::vector<std::string>{lost + "/usr/bin/ping", lost + "/usr/bin/su"}));
}

TEST_F(Overlays, DirectoriesForEverybodyStaySticky) {
    overlay.source = scratch / "v.tar";
    host_file("v.tar", tar_archive({{"opt/v/spool/", '5', "", "", 01777},
                                    {"opt/v/shared/", '5', "", "", 02775},
                                    {"opt/v/tool", '0', "tool", "", 01755}}));
    add();
    EXPECT_EQ(tree.entries.at("/opt/v/spool").mode, 01777U);
    EXPECT_EQ(tree.entries.at("/opt/v/shared").mode, 0775U);
    EXPECT_EQ(tree.entries.at("/opt/v/tool").mode, 0755U);
    EXPECT_EQ(console.warnings(),
              std::vector<std::string>{"setuid, setgid and capabilities of overlay files are "
                                       "dropped unless a rule sets their mode: /opt/v/shared"});
}

TEST_F(Overlays, DirectoriesOfTheImageStayUnlessReplaced) {
    directory("/usr/lib/v", 0750, 990);
    host_file("overlay/usr/lib/v/a", "a");
    add();
    EXPECT_EQ(tree.entries.at("/usr/lib/v").mode, 0750U);
    EXPECT_EQ(tree.entries.at("/usr/lib/v").uid, 990U);
    overlay.replace = true;
    rule("/usr/lib/v").mode = 02755;
    add();
    EXPECT_EQ(tree.entries.at("/usr/lib/v").mode, 02755U);
    file("/usr/lib/w", "");
    host_file("overlay/usr/lib/w/a", "a");
    EXPECT_NE(failure().find("/usr/lib/w is already in the image as a file or link"),
              std::string::npos);
}

TEST_F(Overlays, CannotReachMountsThroughLinksOfTheImage) {
    link("/usr/lib/state", "../../run");
    host_file("overlay/usr/lib/state/x", "");
    EXPECT_NE(
        failure().find("an image cannot carry /run of overlay overlay: /run is created at boot"),
        std::string::npos);
}

TEST_F(Overlays, ALabelStaysInsideTheOverlay) {
    host_file("overlay/usr/bin/v-tool", "");
    rule("/usr/bin/v-*").label = "bin_t";
    add();
    overlay.rules[0].path = "/usr/bin/*";
    EXPECT_EQ(
        failure(),
        "b.toml:8:1: the label bin_t of \"/usr/bin/*\" would also apply to /usr/bin/bash, which is "
        "not part of this overlay|use a pattern that matches only paths of the overlay");
}

}  // namespace
}  // namespace edgegpu::test
