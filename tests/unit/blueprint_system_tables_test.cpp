#include "unit/blueprint_testing.hpp"

namespace edgegpu {

using BlueprintSystemTest = BlueprintTest;

TEST_F(BlueprintSystemTest, initramfs) {
    EXPECT_EQ(parse("distro = \"lab-12\"\n").initramfs_compression,
              InitramfsCompression::automatic);
    EXPECT_EQ(
        parse("distro = \"lab-12\"\n[initramfs]\ncompression = \"none\"\n").initramfs_compression,
        InitramfsCompression::none);
    EXPECT_EQ(
        failure_of("[initramfs]\ncompression = \"xz\"\n"),
        "error: b.toml:3:15: \"initramfs.compression\" must be one of \"auto\", \"none\", not "
        "\"xz\"\n");
    EXPECT_NE(failure_of("[initramfs]\ncompresion = \"none\"\n").find("unknown key"),
              std::string::npos);
}

TEST_F(BlueprintSystemTest, modprobe) {
    const Blueprint blueprint = parse(
        "distro = \"lab-12\"\n[modprobe]\nblacklist = [\"nouveau\"]\noptions = { nvidia = \"a=1\" "
        "}\n"
        "softdeps = { nvidia = { pre = [\"i2c-core\"], post = [\"nvidia-uvm\"] } }\n");
    EXPECT_EQ(blueprint.modprobe.location.line, 2U);
    EXPECT_EQ(blueprint.modprobe.softdeps.at("nvidia").pre, std::vector<std::string>{"i2c-core"});
    EXPECT_EQ(blueprint.modprobe.softdeps.at("nvidia").post,
              std::vector<std::string>{"nvidia-uvm"});
    EXPECT_EQ(failure_of("[modprobe]\nsoftdeps = { nvidia = { pre = [\"a b\"] } }\n"),
              "error: b.toml:3:32: invalid kernel module name \"a b\"\n");
    EXPECT_EQ(failure_of("[modprobe]\nsoftdeps = { nvidia = {} }\n"),
              "error: b.toml:3:23: a soft dependency without modules\n"
              "hint: as in softdeps = { nvidia = { post = [\"nvidia-uvm\"] } }\n");
}

TEST_F(BlueprintSystemTest, units) {
    put("gpu.timer", "[Timer]\nOnBootSec=5\n[Install]\nWantedBy=timers.target\n");
    const Blueprint blueprint = parse(
        "distro = \"lab-12\"\n[systemd]\npreset_all = true\n[[systemd.units]]\n"
        "name = \"gpu.service\"\ncontents = \"\"\"\n[Service]\nExecStart=/bin/true\n\"\"\"\n"
        "state = \"disabled\"\n[[systemd.units]]\nname = \"gpu.timer\"\nsource = \"gpu.timer\"\n"
        "state = \"enabled\"\n[[systemd.units]]\nname = \"sshd.service\"\n"
        "drop_ins = { \"10-x.conf\" = \"[Service]\\nNice=5\\n\" }\n");
    const SystemdRequest& systemd = blueprint.systemd;
    EXPECT_TRUE(systemd.preset_all);
    ASSERT_EQ(systemd.units.size(), 3U);
    EXPECT_EQ(systemd.units[0].contents, "[Service]\nExecStart=/bin/true\n");
    EXPECT_EQ(systemd.units[0].state, UnitState::disabled);
    EXPECT_EQ(systemd.units[1].contents->substr(0, 7), "[Timer]");
    EXPECT_EQ(systemd.units[2].state, UnitState::preset);
    EXPECT_EQ(systemd.units[2].drop_ins.at("10-x.conf"), "[Service]\nNice=5\n");
}

TEST_F(BlueprintSystemTest, unit_mistakes) {
    const auto of = [&](const std::string& text) {
        return failure_of("[[systemd.units]]\n" + text);
    };
    EXPECT_EQ(of("name = \"gpu\"\n"),
              "error: b.toml:3:8: \"gpu\" is not the whole name of a unit\nhint: as in "
              "\"gpu.service\"\n");
    EXPECT_EQ(of("name = \"a.service\"\nsource = \"none.service\"\n"),
              "error: b.toml:4:10: none.service: No such file or directory\n");
    EXPECT_EQ(of("name = \"a.service\"\ncontents = \"x\"\nsource = \"y\"\n"),
              "error: b.toml:5:10: unit \"a.service\" has both contents and source\n");
    EXPECT_EQ(
        of("name = \"a.service\"\ncontents = \"[Service]\\n\"\nstate = \"enabled\"\n"),
        "error: b.toml:5:9: unit \"a.service\" cannot be enabled: it has no [Install] section\n"
        "hint: as in [Install] WantedBy=multi-user.target\n");
    EXPECT_EQ(of("name = \"a.service\"\ndrop_ins = { \"x\" = \"\" }\n"),
              "error: b.toml:4:20: \"x\" is not the name of a drop-in\n"
              "hint: as in drop_ins = { \"10-limits.conf\" = \"[Service]\\n…\" }\n");
    EXPECT_EQ(of("name = \"a.service\"\n[[systemd.units]]\nname = \"a.service\"\n"),
              "error: b.toml:4:1: duplicate unit \"a.service\" (first at line 2)\n");
    EXPECT_EQ(of("name = \"a.service\"\nstate = \"on\"\n").substr(0, 59),
              "error: b.toml:4:9: \"systemd.units.state\" must be one of \"en");
}

}  // namespace edgegpu
