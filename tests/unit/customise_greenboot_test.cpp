#include "customise/health/greenboot.hpp"

#include <gmock/gmock.h>

#include "customise/health/check_scripts.hpp"
#include "customise/health/journal.hpp"
#include "customise_fixture.hpp"
#include "support/error.hpp"

namespace edgegpu::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Greenboots : public TreeTest {
protected:
    void unit(const std::string& name) { file("/usr/lib/systemd/system/" + name, "[Unit]\n"); }
    void package(const std::string& version) {
        tree.packages = {{"greenboot-default-health-checks", 0, "0.1", "1", "x86_64"},
                         {"greenboot", 0, version, "1", "x86_64"}};
    }
    std::vector<std::string> faults(const std::string& version) {
        package(version);
        std::vector<std::string> texts;
        for (const GreenbootFault& fault : faults_of_greenboot(greenboot_of(tree), tree)) {
            texts.push_back((fault.fatal ? "fatal: " : "") + fault.text);
            EXPECT_FALSE(fault.hint.empty()) << fault.text;
        }
        return texts;
    }
};

TEST_F(Greenboots, ThePackageSaysWhichOneItIs) {
    const std::vector<std::pair<std::string, GreenbootKind>> versions{
        {"0.14.0", GreenbootKind::bash},    {"0.15.8", GreenbootKind::bash},
        {"0.15.99", GreenbootKind::bash},   {"0.16.4", GreenbootKind::rust},
        {"0.16~rc1", GreenbootKind::rust},  {"1.0", GreenbootKind::rust},
        {"0.15.9~rc", GreenbootKind::bash}, {"", GreenbootKind::bash}};
    for (const auto& [version, kind] : versions) {
        package(version);
        EXPECT_EQ(greenboot_of(tree).kind, kind) << version;
        EXPECT_EQ(greenboot_of(tree).version, version);
    }
}

TEST_F(Greenboots, WithoutAPackageItsFilesSay) {
    EXPECT_EQ(greenboot_of(tree).kind, GreenbootKind::none);
    file("/usr/libexec/greenboot/greenboot", "#!/bin/bash\n");
    EXPECT_EQ(greenboot_of(tree).kind, GreenbootKind::none);
    unit("greenboot-healthcheck.service");
    EXPECT_EQ(greenboot_of(tree).kind, GreenbootKind::bash);
    file("/usr/libexec/greenboot/greenboot", "\177ELF\2\1\1");
    EXPECT_EQ(greenboot_of(tree).kind, GreenbootKind::rust);
    file("/usr/libexec/greenboot/greenboot", "");
    EXPECT_EQ(greenboot_of(tree).kind, GreenbootKind::bash);
    unit("greenboot-set-rollback-trigger.service");
    EXPECT_EQ(greenboot_of(tree).kind, GreenbootKind::rust);
}

TEST_F(Greenboots, UnitsOfEachKindAreEnabled) {
    for (const char* const name :
         {"greenboot-healthcheck.service", "greenboot-success.target", "redboot.target",
          "greenboot-set-rollback-trigger.service", "greenboot-grub2-set-counter.service",
          "redboot-auto-reboot.service"}) {
        unit(name);
    }
    package("0.15.8");
    EXPECT_THAT(with_greenboot_units({}, {}, {}, tree).enabled,
                ElementsAre("greenboot-grub2-set-counter.service", "greenboot-healthcheck.service",
                            "redboot-auto-reboot.service"));
    package("0.16.4");
    EXPECT_THAT(with_greenboot_units({}, {}, {}, tree).enabled,
                ElementsAre("greenboot-healthcheck.service",
                            "greenboot-set-rollback-trigger.service", "greenboot-success.target"));
    tree.packages.clear();
    tree.entries.erase("/usr/lib/systemd/system/greenboot-healthcheck.service");
    tree.entries.erase("/usr/lib/systemd/system/greenboot-set-rollback-trigger.service");
    EXPECT_THAT(with_greenboot_units({}, {}, {}, tree).enabled, IsEmpty());
}

TEST_F(Greenboots, WhatTheBlueprintSaysOfAUnitStays) {
    unit("greenboot-healthcheck.service");
    unit("greenboot-status.service");
    package("0.15.8");
    ServicesRequest services;
    services.enabled = {"greenboot-healthcheck"};
    services.masked = {"greenboot-status.service"};
    EXPECT_THAT(with_greenboot_units({}, services, {}, tree).enabled,
                ElementsAre("greenboot-healthcheck"));
    services.enabled = {};
    services.disabled = {"greenboot-healthcheck"};
    services.locations["greenboot-healthcheck"] = {"b.toml", 7, 3};
    const SourceLocation health{"b.toml", 1, 1};
    const auto problem = [&](const SystemdRequest& systemd) {
        return error_of(
            [&] { static_cast<void>(with_greenboot_units(systemd, services, health, tree)); });
    };
    EXPECT_THAT(problem({}),
                HasSubstr("b.toml:7:3: [health.gpu] needs greenboot-healthcheck.service"));
    services.locations.clear();
    EXPECT_THAT(problem({}), HasSubstr("b.toml:1:1: "));
    services.disabled.clear();
    SystemdRequest systemd;
    systemd.units.emplace_back();
    systemd.units.back().name = "greenboot-healthcheck.service";
    systemd.units.back().state = UnitState::masked;
    systemd.units.back().location = {"b.toml", 9, 1};
    EXPECT_THAT(problem(systemd), HasSubstr("b.toml:9:1: "));
}

TEST_F(Greenboots, FaultsAreThoseOfTheVersion) {
    file("/etc/systemd/journald.conf", "[Journal]\nStorage=persistent\n");
    EXPECT_THAT(faults("0.14.0"), IsEmpty());
    EXPECT_THAT(faults("0.15.4"), IsEmpty());
    EXPECT_THAT(faults("0.15.6"), ElementsAre(HasSubstr("keeps its counter")));
    EXPECT_THAT(faults("0.15.7"), IsEmpty());
    EXPECT_THAT(faults("0.16.4"), ElementsAre(HasSubstr("fatal: greenboot 0.16.4 asks")));
    file("/usr/bin/bootc", "");
    EXPECT_THAT(faults("0.15.4"), IsEmpty());
    EXPECT_THAT(faults("0.15.5"), ElementsAre(HasSubstr("fatal: greenboot 0.15.5 takes an image"),
                                              HasSubstr("keeps its counter")));
    EXPECT_THAT(faults("0.15.7"), ElementsAre(HasSubstr("fatal: ")));
    EXPECT_THAT(faults("0.15.8"), IsEmpty());
    EXPECT_THAT(faults("0.16.4"), IsEmpty());
    file("/etc/systemd/journald.conf", "");
    EXPECT_THAT(faults("0.16.4"), ElementsAre(HasSubstr("journal does not survive")));
    EXPECT_THAT(faults("0.15.8"), IsEmpty());
}

TEST_F(Greenboots, TheJournalsLastSettingCounts) {
    EXPECT_FALSE(has_persistent_journal(tree));
    file("/usr/lib/tmpfiles.d/systemd.conf",
         "z /var/log/journal 2755 root root\n#d /var/log/journal\n");
    EXPECT_FALSE(has_persistent_journal(tree));
    file("/usr/lib/tmpfiles.d/x.conf", "d! /var/log/journal 2755 root root -\n");
    EXPECT_TRUE(has_persistent_journal(tree));
    file("/usr/lib/systemd/journald.conf", "[Journal]\n#Storage=persistent\nStorage=volatile\n");
    EXPECT_FALSE(has_persistent_journal(tree));
    file("/etc/systemd/journald.conf", "[Other]\nStorage=none\n[Journal]\nMaxUse=1\n");
    EXPECT_TRUE(has_persistent_journal(tree)) << "the one in /etc replaces the other";
    file("/usr/lib/systemd/journald.conf.d/60.conf", "[Journal]\nStorage=volatile\n");
    EXPECT_FALSE(has_persistent_journal(tree));
    file("/etc/systemd/journald.conf.d/60.conf", "[Journal]\n Storage = auto \n");
    EXPECT_TRUE(has_persistent_journal(tree)) << "of one name, that in /etc counts";
    remove_entry(tree, "/usr/lib/tmpfiles.d/x.conf");
    EXPECT_FALSE(has_persistent_journal(tree));
    file(std::string(persistent_journal_path), "[Journal]\nStorage=persistent\n");
    EXPECT_FALSE(has_persistent_journal(tree)) << "60.conf is read after it";
    remove_entry(tree, "/etc/systemd/journald.conf.d/60.conf");
    remove_entry(tree, "/usr/lib/systemd/journald.conf.d/60.conf");
    EXPECT_TRUE(has_persistent_journal(tree));
    remove_entry(tree, "/etc/systemd/journald.conf.d/50-persistent.conf");
    EXPECT_FALSE(has_persistent_journal(tree));
    directory("/var/log/journal");
    EXPECT_TRUE(has_persistent_journal(tree));
}

std::vector<std::string> doubts(std::string_view script, GreenbootKind kind = GreenbootKind::bash) {
    std::vector<std::string> texts;
    for (const ScriptDoubt& doubt : doubts_of_check(script, kind)) {
        texts.push_back(std::to_string(doubt.line) + ": " + doubt.text);
    }
    return texts;
}

TEST(HealthCheckScripts, AreThoseThatGreenbootRuns) {
    EXPECT_TRUE(is_health_check("/etc/greenboot/check/required.d/10_a.sh"));
    EXPECT_TRUE(is_health_check("/usr/lib/greenboot/check/wanted.d/deep/10_a.sh"));
    EXPECT_FALSE(is_health_check("/etc/greenboot/red.d/10_a.sh"));
    EXPECT_FALSE(is_health_check("/etc/greenboot/check/required.d/README"));
    EXPECT_FALSE(is_health_check("/etc/greenboot/checks/10_a.sh"));
}

TEST(HealthCheckScripts, PlainLinesShowWhatDoesHarm) {
    EXPECT_THAT(doubts("#!/bin/bash\nnvidia-smi -L\n"),
                ElementsAre(HasSubstr("2: nvidia-smi can")));
    EXPECT_THAT(doubts("if ! /usr/bin/nvidia-smi >/dev/null; then exit 1; fi"),
                ElementsAre(HasSubstr("1: nvidia-smi can")));
    EXPECT_THAT(doubts("n=$(nvidia-smi -L | wc -l)"), ElementsAre(HasSubstr("nvidia-smi can")));
    EXPECT_THAT(doubts("echo $n > /var/lib/count"), ElementsAre(HasSubstr("/var/lib/count is of")));
    EXPECT_THAT(doubts("echo $n >>\"/etc/state\""), ElementsAre(HasSubstr("/etc/state is of")));
    EXPECT_THAT(doubts("touch /var/lib/seen; x"), ElementsAre(HasSubstr("/var/lib/seen is of")));
    EXPECT_THAT(doubts("date | tee -a /var/log/x"), ElementsAre(HasSubstr("/var/log/x is of")));
    EXPECT_THAT(doubts("echo > /var/x", GreenbootKind::rust), ElementsAre(HasSubstr("bash -C")));
    EXPECT_THAT(doubts("echo >| /var/x", GreenbootKind::rust),
                ElementsAre(Not(HasSubstr("bash -C"))));
}

TEST(HealthCheckScripts, OthersAreLeftAlone) {
    EXPECT_THAT(doubts("timeout -k 5 30 nvidia-smi -L\n# nvidia-smi > /var/x\n  # nvidia-smi\n"
                       "true # nvidia-smi\necho $n > /run/x\ncat /var/lib/x >&2\n"
                       "grep -q a /etc/passwd 2>/dev/null\ncp /etc/a /run/b | cat\n"
                       "mynvidia-smi\ncat < /var/x\n"),
                IsEmpty());
    EXPECT_THAT(doubts(""), IsEmpty());
    EXPECT_THAT(doubts(std::string(2'000'000, 'x') + "\n" + std::string(2'000'000, '>')),
                IsEmpty());
    EXPECT_THAT(doubts(std::string(1'000'000, '\n') + "nvidia-smi"),
                ElementsAre(HasSubstr("1000001: ")));
    EXPECT_THAT(doubts(std::string("touch \0 /var/x\xff\xfe", 16)), Contains(HasSubstr("1: ")));
}

TEST_F(Greenboots, ALoginIsNoSuccessOfTheBoot) {
    const std::string timer = "/usr/lib/systemd/user/grub-boot-success.timer";
    const std::string drop_in = timer + ".d/10-disable-if-greenboot.conf";
    file(timer, "[Timer]\nOnActiveSec=2min\n");
    leave_boot_success(ctx, tree);
    EXPECT_EQ(find_entry(tree, drop_in), nullptr) << "no greenboot";
    package("0.15.8");
    leave_boot_success(ctx, tree);
    EXPECT_THAT(text(drop_in),
                HasSubstr("[Unit]\nConditionPathExists=!/usr/lib/systemd/system/greenboot-"));
    file(drop_in, "the site's\n");
    leave_boot_success(ctx, tree);
    EXPECT_EQ(text(drop_in), "the site's\n");
}

}  // namespace
}  // namespace edgegpu::test
