#include "unit/blueprint_testing.hpp"

namespace edgegpu {
namespace {

class ImageTableTest : public BlueprintTest {};

constexpr std::uint64_t gib = 1ULL << 30U;

TEST_F(ImageTableTest, hasWhatOptionsOfImageSay) {
    const Blueprint blueprint = parse(
        "distro = \"rhel-9.4\"\n[image]\npackage_set = \"none\"\nsize = \"16 GiB\"\n"
        "stateroot = \"edge\"\nremote = \"updates\"\nappend = \"console=ttyS0 quiet\"\n"
        "target_rule = \"size>=100G\"\ncompress = \"zstd\"\ninject = \"site/machine.toml\"\n"
        "sign = true\n");
    const ImageSettings& image = blueprint.image;
    EXPECT_EQ(image.size, 16 * gib);
    EXPECT_EQ(image.stateroot, "edge");
    EXPECT_EQ(image.remote, "updates");
    EXPECT_EQ(image.kernel_arguments, (std::vector<std::string>{"console=ttyS0", "quiet"}));
    EXPECT_EQ(image.target_rule, "size>=100G");
    EXPECT_EQ(image.target_rule_location.line, 8U);
    EXPECT_EQ(image.compress, "zstd");
    EXPECT_EQ(image.injection, directory_ / "site/machine.toml");
    EXPECT_TRUE(image.sign);
    EXPECT_TRUE(blueprint.package_set.name.empty());
    EXPECT_TRUE(blueprint.kernel.arguments.empty());
}

TEST_F(ImageTableTest, saysWhatIsWrong) {
    for (const auto& [line, expected] : std::initializer_list<std::pair<const char*, const char*>>{
             {"size = \"large\"", "b.toml:3:8: \"image.size\" must be a size, not \"large\""},
             {"size = -1",
              "b.toml:3:8: \"image.size\" must be between 0 and 17592186044416, not -1"},
             {"size = \"17T\"", "b.toml:3:8: \"image.size\" must be a size, not \"17T\""},
             {"stateroot = \"../up\"", "b.toml:3:13: invalid \"image.stateroot\": \"../up\""},
             {"remote = \"a b\"", "b.toml:3:10: invalid \"image.remote\": \"a b\""},
             {"append = \"a=\\\"b\"", "b.toml:3:10: unclosed quote in the kernel arguments"},
             {"append = \"ostree=/x\"",
              "b.toml:3:10: the kernel argument \"ostree\" cannot be set: ostree sets it"},
             {"append = \"root=LABEL=root\"",
              "b.toml:3:10: the kernel argument \"root\" cannot be set: each device's boot entry"},
             {"append = \"rd.luks.options=discard\"",
              "b.toml:3:10: the kernel argument \"rd.luks.options\" cannot be set: the boot entry"},
             {"compress = \"xz\"", "b.toml:3:12: \"image.compress\" must be"},
             {"compress = true", "b.toml:3:12: \"image.compress\" must be"},
             {"sign = \"yes\"", "b.toml:3:8: \"image.sign\" must be"},
             {"stateroots = \"x\"", "b.toml:3:1: unknown key \"image.stateroots\""}}) {
        const std::string said = failure_of("[image]\n" + std::string(line) + "\n");
        EXPECT_EQ(said.find("error: " + std::string(expected)), 0U) << line << ": " << said;
    }
}

TEST_F(ImageTableTest, isReadWithoutTheFilesThatTheBlueprintNames) {
    put("b.toml",
        "version = \"1.2.0\"\nrepository_files = [\"missing.repo\"]\n[image]\nsize = \"8G\"\n"
        "[ostree]\nsign = \"edge@example.com\"\ngpg_homedir = \"keys\"\n"
        "[customizations]\nhostname = \"x\"\n"
        "[[customizations.filesystem]]\nmountpoint = \"/\"\nminsize = \"2 GiB\"\n");
    const Blueprint blueprint = parse_image_settings(directory_ / "b.toml").blueprint;
    EXPECT_EQ(blueprint.version, "1.2.0");
    EXPECT_EQ(blueprint.image.size, 8 * gib);
    EXPECT_EQ(blueprint.image.least.rootfs, 2 * gib);
    EXPECT_EQ(blueprint.ostree.sign, "edge@example.com");
    EXPECT_EQ(blueprint.ostree.gpg_homedir, directory_ / "keys");
    put("b.toml", "[image]\nsize = \"big\"\n");
    EXPECT_THROW((void)parse_image_settings(directory_ / "b.toml"), Error);
}

}  // namespace
}  // namespace edgegpu
