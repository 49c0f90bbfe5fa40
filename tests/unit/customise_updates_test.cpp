#include "customise/updates/updates.hpp"

#include <string>

#include <gtest/gtest.h>

#include "customise_fixture.hpp"
#include "support/error.hpp"

namespace edgegpu::test {
namespace {

// What the program does on a device is shown by integration/update_test.
class Updates : public TreeTest {
protected:
    void SetUp() override {
        TreeTest::SetUp();
        file("/usr/lib/systemd/system/timers.target", "");
        for (const char* const program :
             {"ostree", "flock", "sed", "grep", "timeout", "sha256sum", "date", "df", "sync",
              "head", "tail", "tr", "cut", "mkdir", "rm", "mv", "cat", "sleep"}) {
            file(std::string("/usr/bin/") + program, "");
        }
        updates.location = {"b.toml", 3, 1};
    }
    std::string problem() {
        try {
            add_updates(ctx, updates, tree);
        } catch (const Error& error) {
            return error.message();
        }
        return "none";
    }
    UpdatesRequest updates;
};

TEST_F(Updates, AnImageWithoutThemHasNothing) {
    const std::size_t before = tree.entries.size();
    add_updates(ctx, std::nullopt, tree);
    EXPECT_EQ(tree.entries.size(), before);
}

TEST_F(Updates, TheImageBringsProgramSettingsAndTimer) {
    ctx.source_date_epoch = 1700000000;
    file("/usr/share/zoneinfo/Europe/Berlin", "TZif");
    file("/usr/bin/curl", "");
    updates.time_zone = "Europe/Berlin";
    updates.windows = {{{Weekday::saturday, Weekday::sunday}, "02:00", 180}, {{}, "23:15", 15}};
    for (const char* const program : {"sort", "uniq", "join", "comm"}) {
        file(std::string("/usr/bin/") + program, "");
    }
    updates.rollouts = true;
    updates.max_download = 500'000'000;
    updates.lock = "https://locks.example";
    updates.lock_group = "a";
    add_updates(ctx, updates, tree);
    EXPECT_EQ(text("/usr/lib/edgegpu/update.conf"),
              "# For settings of one device: /etc/edgegpu/update.conf\n"
              "policy=apply\ncheck_every=3600\nspread=0\nrollouts=yes\n"
              "max_download=500000000\ntime_zone=Europe/Berlin\n"
              "window=Sat,Sun 02:00 180\nwindow=* 23:15 15\nlock=https://locks.example\n"
              "lock_group=a\nbuilt=1700000000\n");
    EXPECT_EQ(text("/usr/bin/edgegpu-update"),
              read_file(EDGEGPU_SOURCE_DIR "/src/customise/device/edgegpu-update"));
    EXPECT_EQ(tree.entries.at("/usr/bin/edgegpu-update").mode, 0755U);
    for (const std::string part : {"records", "deployments", "restraints", "rollout"}) {
        EXPECT_EQ(text("/usr/libexec/edgegpu/update/" + part),
                  read_file(EDGEGPU_SOURCE_DIR "/src/customise/device/update/" + part));
    }
    EXPECT_EQ(text("/usr/lib/systemd/system/timers.target.wants/edgegpu-update.timer"),
              read_file(EDGEGPU_SOURCE_DIR "/src/customise/device/edgegpu-update.timer"));
    EXPECT_EQ(text("/usr/lib/tmpfiles.d/edgegpu-update.conf"),
              read_file(EDGEGPU_SOURCE_DIR "/src/customise/device/edgegpu-update.conf"));
    EXPECT_EQ(text("/usr/lib/systemd/system/edgegpu-update.service"),
              read_file(EDGEGPU_SOURCE_DIR "/src/customise/device/edgegpu-update.service"));
}

TEST_F(Updates, WhatTheImageLacksIsAnError) {
    updates.report_to = "https://reports.example";
    tree.entries.erase("/usr/bin/flock");
    EXPECT_EQ(problem(), "b.toml:3:1: the image has no flock, curl, which edgegpu-update needs");
    file("/usr/bin/curl", "");
    file("/usr/bin/flock", "");
    updates.rollouts = true;
    EXPECT_EQ(problem(),
              "b.toml:3:1: the image has no sort, uniq, join, comm, which edgegpu-update needs");
    updates.rollouts = false;
    updates.time_zone = "Europe/Berlim";
    updates.time_zone_location = {"b.toml", 5, 13};
    file("/usr/share/zoneinfo/Europe/Berlin", "TZif");
    EXPECT_EQ(problem(), "b.toml:5:13: the image has no time zone 'Europe/Berlim'");
}

}  // namespace
}  // namespace edgegpu::test
