#include <gtest/gtest.h>

#include "blueprint/blueprint.hpp"
#include "customise/units/firstboot.hpp"
#include "customise/units/unit_check.hpp"
#include "customise/units/units.hpp"
#include "customise_fixture.hpp"

namespace edgegpu::test {
namespace {

using Strings = std::vector<std::string>;

class Units : public TreeTest {
protected:
    void SetUp() override {
        TreeTest::SetUp();
        file("/usr/lib/systemd/system/sshd.service", "");
    }
    UnitRequest& unit(const std::string& name, UnitState state) {
        UnitRequest fresh;
        fresh.name = name;
        fresh.state = state;
        fresh.location = {"b.toml", 7, 1};
        return blueprint.systemd.units.emplace_back(fresh);
    }
    std::string failure() {
        return error_of([&] { set(); });
    }
    void set() {
        set_units(
            ctx,
            {blueprint.systemd, blueprint.services, blueprint.package_set, blueprint.firstboot}, {},
            tree);
    }
    Blueprint blueprint;
};

TEST_F(Units, UnknownUnitsAreNamedWithNearOnes) {
    blueprint.services.enabled = {"ssh"};
    blueprint.services.locations["ssh"] = {"b.toml", 4, 12};
    EXPECT_EQ(failure(),
              "b.toml:4:12: the image has no unit 'ssh.service'|"
              "did you mean 'sshd.service'?");
    blueprint.services.enabled.clear();
    unit("sshd2.service", UnitState::enabled);
    EXPECT_EQ(failure(),
              "b.toml:7:1: the image has no unit 'sshd2.service'|did you mean 'sshd.service'?");
}

TEST_F(Units, WhatCannotBeEnabledIsSaid) {
    file("/usr/lib/systemd/system/multi-user.target", "");
    file("/usr/lib/systemd/system/static.service", "[Service]\nExecStart=/bin/true\n");
    file("/usr/lib/systemd/system/on@.service", "[Install]\nWantedBy=multi-user.target\n");
    file("/usr/lib/systemd/system/dropped.service", "[Service]\n");
    file("/usr/lib/systemd/system/dropped.service.d/install.conf", "[Install]\n");
    blueprint.services.enabled = {"static", "on@a", "dropped"};
    blueprint.services.locations["static"] = {"b.toml", 4, 12};
    // There is no systemctl here.
    (void)failure();
    EXPECT_EQ(console.warnings(),
              Strings{"b.toml:4:12: static.service has no [Install] section: enabling it does "
                      "nothing, it starts only if another unit asks for it"});
}

TEST_F(Units, StartersThatTheImageDoesNotHaveAreSaid) {
    file("/usr/lib/systemd/system/multi-user.target", "");
    file("/usr/lib/systemd/system/sshd.service", "[Install]\nWantedBy=nosuch.target\n");
    unit("app.service", UnitState::enabled).contents =
        "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-users.target\n";
    blueprint.services.enabled = {"sshd"};
    blueprint.services.locations["sshd"] = {"b.toml", 4, 12};
    EXPECT_EQ(failure(),
              "b.toml:7:1: app.service is to be started by multi-users.target, which the image "
              "does not have|did you mean 'multi-user.target'?");
    EXPECT_EQ(console.warnings(),
              Strings{"b.toml:4:12: sshd.service is to be started by nosuch.target, which the "
                      "image does not have"});
}

TEST_F(Units, AUnitWithOneStarterOfTheImageMayNameOthers) {
    file("/usr/lib/systemd/system/multi-user.target", "");
    unit("app.service", UnitState::enabled).contents =
        "[Install]\nWantedBy=multi-user.target\nRequiredBy=database-server.service\nWantedBy=x."
        "mount\n";
    // There is no systemctl here.
    EXPECT_EQ(failure().find("is to be started"), std::string::npos);
    EXPECT_EQ(console.warnings()[0],
              "b.toml:7:1: app.service is to be started by database-server.service, which the "
              "image does not "
              "have");
}

TEST_F(Units, MasksAreLinks) {
    blueprint.services.masked = {"sshd", "nosuch.timer"};
    set();
    EXPECT_EQ(tree.entries.at("/etc/systemd/system/sshd.service").target, "/dev/null");
    EXPECT_EQ(console.warnings(), Strings{"masked units that are not in the image: nosuch.timer"});
}

TEST_F(Units, ADisabledOneThatStartsAllTheSameIsSaid) {
    file("/usr/lib/systemd/system/chronyd.service", "");
    link("/usr/lib/systemd/system/sysinit.target.wants/sshd.service", "../sshd.service");
    blueprint.services.disabled = {"sshd", "chronyd"};
    blueprint.services.locations["sshd"] = {"b.toml", 4, 12};
    // There is no systemctl here.
    (void)failure();
    EXPECT_EQ(
        console.warnings(),
        Strings{"b.toml:4:12: sshd.service is disabled and starts all the same, as its package "
                "has /usr/lib/systemd/system/sysinit.target.wants/sshd.service; mask it "
                "instead"});
}

TEST_F(Units, AnOrderByAUnitThatIsNotThereIsSaid) {
    FirstbootScript script;
    script.name = "enrol";
    script.after = {"sshd", "var-data.mount", "sshd@1.service"};
    script.before = {"microshift"};
    script.location = {"b.toml", 9, 1};
    blueprint.firstboot = {script};
    file("/usr/lib/systemd/system/sshd@.service", "");
    set();
    EXPECT_EQ(
        console.warnings(),
        Strings{"b.toml:9:1: first boot script 'enrol' is ordered by microshift.service, which "
                "is no unit of the image: unless a generator makes it on the device, the "
                "script does not wait for it"});
}

TEST_F(Units, OfThePackageSetYieldToTheBlueprint) {
    blueprint.package_set.distro = "rhel-9.4";
    blueprint.package_set.name = "edge-commit";
    blueprint.package_set.services = {"sshd.service", "greenboot-healthcheck"};
    blueprint.services.masked = {"sshd"};
    set();
    EXPECT_EQ(tree.entries.at("/etc/systemd/system/sshd.service").target, "/dev/null");
    EXPECT_EQ(console.warnings(),
              Strings{"units that package set edge-commit of rhel-9.4 enables, but the image does "
                      "not have: greenboot-healthcheck.service"});
}

TEST_F(Units, OneStateEach) {
    unit("sshd.service", UnitState::masked);
    blueprint.services.enabled = {"sshd"};
    blueprint.services.locations["sshd"] = {"b.toml", 4, 12};
    EXPECT_EQ(failure(), "b.toml:4:12: unit sshd.service is both masked and enabled|");
}

TEST_F(Units, OwnUnitsAndDropInsAreOfTheImage) {
    unit("gpu.service", UnitState::masked).contents = "[Service]\nExecStart=/bin/true\n";
    unit("sshd.service", UnitState::masked).drop_ins = {{"10-x.conf", "[Service]\nNice=5\n"}};
    set();
    EXPECT_EQ(text("/usr/lib/systemd/system/gpu.service"), "[Service]\nExecStart=/bin/true\n");
    EXPECT_EQ(text("/usr/lib/systemd/system/sshd.service.d/10-x.conf"), "[Service]\nNice=5\n");
    EXPECT_EQ(console.warnings(),
              Strings{"units are not verified: the image has no systemd-analyze"});
    EXPECT_EQ(failure(),
              "b.toml:7:1: the image has a unit gpu.service already|change it with drop_ins, or "
              "replace it with an overlay");
}

TEST(UnitCheck, PathsOfUnits) {
    EXPECT_EQ(unit_of_path("/usr/lib/systemd/system/x.service"), "x.service");
    EXPECT_EQ(unit_of_path("/etc/systemd/system/x@.timer.d/10.conf"), "x@.timer");
    EXPECT_EQ(unit_of_path("/usr/lib/systemd/system/x.service.d"), "");
    EXPECT_EQ(unit_of_path("/usr/lib/systemd/system/x.target.wants/y.service"), "");
    EXPECT_EQ(unit_of_path("/usr/lib/systemd/system-preset/x.preset"), "");
}

TEST_F(Units, AllUnknownOnesAtOnce) {
    blueprint.services.enabled = {"ssh", "sshdd"};
    blueprint.services.locations["ssh"] = {"b.toml", 4, 12};
    blueprint.services.locations["sshdd"] = {"b.toml", 5, 3};
    unit("zzz.service", UnitState::enabled);
    EXPECT_EQ(failure(),
              "b.toml:4:12: the image has no unit 'ssh.service'\n"
              "hint: did you mean 'sshd.service'?\n"
              "error: b.toml:5:3: the image has no unit 'sshdd.service'\n"
              "error: b.toml:7:1: the image has no unit 'zzz.service'|"
              "add the package that contains it");
}

TEST(UnitCheck, ScriptsThatWaitForThemselvesAreErrors) {
    FirstbootScript script;
    script.name = "net";
    script.before = {"systemd-networkd", "sshd"};
    script.location = {"b.toml", 9, 1};
    // What systemd 252 prints.
    const std::string output =
        "systemd-networkd.service: Found ordering cycle on edgegpu-firstboot.service/start\n"
        "systemd-networkd.service: Found dependency on network-online.target/start\n"
        "systemd-networkd.service: Found dependency on systemd-networkd.service/start\n"
        "systemd-networkd.service: Job network.target/start deleted to break ordering cycle\n"
        "a.service: Found ordering cycle on sshd.service/start\n"
        "a.service: Found dependency on a.service/start\n";
    EXPECT_EQ(ordering_cycles(output + output),
              (std::vector<Strings>{{"systemd-networkd.service", "edgegpu-firstboot.service",
                                     "network-online.target"},
                                    {"a.service", "sshd.service"}}));
    EXPECT_EQ(error_of([&] { require_no_firstboot_cycle({script}, output); }),
              "b.toml:9:1: first boot script 'net' cannot run before systemd-networkd.service: "
              "these units would wait for each other, so that systemd leaves one out: "
              "systemd-networkd.service, edgegpu-firstboot.service, network-online.target|first "
              "boot scripts run after network-online.target, and so after all that the network "
              "needs");
    script.before = {"sshd"};
    require_no_firstboot_cycle({script}, output);
}

TEST(UnitCheck, FindingsHaveTheUsersFileAndLine) {
    const PlacedPaths placed{
        {"/usr/lib/systemd/system/a.service", {"/o/usr/lib/systemd/system/a.service", true}},
        {"/etc/systemd/system/a.service.d/x.conf", {"b.toml:9:1", false}}};
    const auto shown = [&](const std::string& finding) {
        return placed_finding("a.service", finding, placed, "b.toml:3:1");
    };
    EXPECT_EQ(shown("/lib/systemd/system/a.service:7: Unknown key"),
              "/o/usr/lib/systemd/system/a.service:7: unit a.service: Unknown key");
    EXPECT_EQ(shown("/etc/systemd/system/a.service.d/x.conf:2: Bad: value"),
              "b.toml:9:1: unit a.service, line 2 of its text in x.conf: Bad: value");
    EXPECT_EQ(shown("/usr/lib/systemd/system/b.service:2: Bad"),
              "b.toml:3:1: unit a.service, line 2 of its text: Bad");
    EXPECT_EQ(shown("a.service: Command /x is not executable"),
              "b.toml:3:1: unit a.service: Command /x is not executable");
}

TEST(UnitCheck, LinesAboutTheUnit) {
    // What systemd 252 prints, with another unit in between.
    const UnitFindings findings = findings_of(
        "bad.service",
        "/lib/systemd/system/bad.service:7: Unknown key 'ExecStrat' in section [Service], "
        "ignoring.\n"
        "/usr/lib/systemd/system/sshd.service.d/10-a.conf:2: Unknown key 'MemoryMx' in section "
        "[Service], ignoring.\n"
        "/etc/systemd/system/bad.service.d/10-a.conf:3: Failed to parse memory value, ignoring: x\n"
        "/usr/lib/systemd/system/bad.service:9: Unit uses CPUShares=; please use CPUWeight= "
        "instead. Support for CPUShares= will be removed soon.\n"
        "bad.service: Command /var/lib/x/run is not executable: No such file or directory\n"
        "bad.service: Command /usr/bin/nope is not executable: No such file or directory\n"
        "notbad.service: Service has no ExecStart=, ExecStop=, or SuccessAction=. Refusing.\n"
        "Unit bad.service has a bad unit file setting.\n");
    EXPECT_EQ(findings.errors,
              (Strings{"/lib/systemd/system/bad.service:7: Unknown key 'ExecStrat' in section "
                       "[Service], ignoring.",
                       "/etc/systemd/system/bad.service.d/10-a.conf:3: Failed to parse memory "
                       "value, ignoring: x",
                       "bad.service: Command /usr/bin/nope is not executable: No such file or "
                       "directory",
                       "Unit bad.service has a bad unit file setting."}));
    EXPECT_EQ(findings.warnings.size(), 2U);
    EXPECT_EQ(findings_of("x@.service", "x@test_instance.service: Bad.\n").errors,
              Strings{"x@.service: Bad."});
}

TEST_F(Units, FirstBootScriptsOfAParentRunBeforeThose) {
    file("/usr/lib/systemd/system/multi-user.target", "");
    file("/usr/bin/sh", "", 0755);
    FirstbootScript script;
    script.name = "enrol";
    script.contents = "#!/usr/bin/sh\necho 1\n";
    script.after = {"chronyd.service"};
    script.location = {"b.toml", 9, 1};
    add_firstboot(ctx, {script}, tree);
    script.name = "gpu";
    script.after.clear();
    add_firstboot(ctx, {script}, tree);
    const std::string unit = text("/usr/lib/systemd/system/edgegpu-firstboot.service");
    EXPECT_NE(unit.find("ExecStart=/usr/libexec/edgegpu/firstboot/01-enrol\n"
                        "ExecStart=/usr/libexec/edgegpu/firstboot/01-gpu\n"),
              std::string::npos)
        << unit;
    EXPECT_NE(unit.find("After=network-online.target chronyd.service\n"), std::string::npos)
        << unit;
    add_firstboot(ctx, {script}, tree);
    EXPECT_EQ(text("/usr/lib/systemd/system/edgegpu-firstboot.service"), unit);
    script.contents = "#!/usr/bin/sh\necho 2\n";
    EXPECT_EQ(error_of([&] { add_firstboot(ctx, {script}, tree); }),
              "b.toml:9:1: the image has a first boot script "
              "/usr/libexec/edgegpu/firstboot/01-gpu already|give yours another name: that of the "
              "parent runs before it");
}

}  // namespace
}  // namespace edgegpu::test
