#include "blueprint/document/merged_text.hpp"

#include <nlohmann/json.hpp>

#include "blueprint/known_secrets.hpp"
#include "commands/blueprint_json.hpp"
#include "support/text/text.hpp"
#include "unit/blueprint_testing.hpp"

namespace edgegpu {
namespace {

class MergedTextTest : public BlueprintTest {
protected:
    [[nodiscard]] MergedText merged(std::string_view text, const GivenParameters& given = {}) {
        put("b.toml", text);
        read_ = load_with_document(directory_ / "b.toml", {{}, "", given});
        const Secrets secrets;
        add_secrets(read_.blueprint, secrets);
        return merged_text(read_.document, read_.paths, secrets);
    }
    /// The values of what is printed, read beside the blueprint.
    [[nodiscard]] std::string again(const MergedText& text) const {
        write_file(directory_ / "merged.toml", text.text);
        return blueprint_json(load_blueprint(directory_ / "merged.toml")).dump(1);
    }
    ReadBlueprint read_;
};

constexpr const char* repository_table = R"(
[[repositories]]
id = "r"
baseurl = "./repo"
gpgkey = "key.asc"
[accounts]
login = "none"
)";

TEST_F(MergedTextTest, each_value_says_where_it_is_from) {
    put("base.toml",
        "distro = \"lab-12\"\nexcludes = [\"a\"]\n[ostree]\nref = "
        "\"lab/${parameters.site}\"\n[parameters.site]\n");
    put("key.asc", "");
    const MergedText text =
        merged("extends = \"base.toml\"\nexcludes = [\"b\"]\n" + std::string(repository_table),
               {{}, {"site=x"}});
    EXPECT_EQ(shown(text.text),
              "# b.toml, extending base.toml: parameters replaced, paths relative to the directory "
              "of b.toml\n"
              "distro = \"lab-12\"  # base.toml:1\n"
              "excludes = [\n    \"a\",  # base.toml:2\n    \"b\",  # b.toml:2\n]\n"
              "\n[ostree]  # base.toml:3\n"
              "ref = \"lab/x\"  # base.toml:4 (site from --set)\n"
              "\n[[repositories]]  # b.toml:4\n"
              "id = \"r\"  # b.toml:5\n"
              "baseurl = \"./repo\"  # b.toml:6\n"
              "gpgkey = \"key.asc\"  # b.toml:7\n"
              "\n[accounts]  # b.toml:8\n"
              "login = \"none\"  # b.toml:9\n");
    EXPECT_EQ(text.hidden, 0U);
}

TEST_F(MergedTextTest, it_is_read_as_the_same_blueprint) {
    put("key.asc", "");
    put("common/files/etc/a", "x");
    put("common/x.te", "module x 1.0;\n");
    put("common/more.repo", "[o]\nname=o\nbaseurl=/o\ngpgcheck=0\n");
    put("common/check", "#!/bin/sh\n");
    put("common/base.toml", R"(distro = "lab-12"
repository_files = "${parameters.files}"
[parameters.files]
type = "strings"
default = ["more.repo"]
[[overlays]]
source = "./files"
[[overlays.rules]]
path = "/etc/**"
mode = "0600"
[selinux]
modules = ["./x.te"]
booleans = { a = true, "b" = false }
[[containers]]
source = "oci:/srv/image:1"
name = "localhost/b:1"
[[containers]]
source = "oci:image:1"
name = "localhost/a:1"
[[test.checks]]
name = "t"
path = "check"
[modprobe.softdeps]
nvidia = { pre = ["a"], post = [] }
[microshift.config]
dns.baseDomain = "x"
list = [1, "a", true, 1.5, 2.0, [[]], { a = [{ b = -0.0 }] }]
empty = {}
)");
    const MergedText text = merged(
        "extends = \"common/base.toml\"\ndescription = \"a\\n\\\"b\\\" "
        "$${parameters.x} $${x}\"\n[[customizations.files]]\n"
        "path = \"/etc/b\"\ndata = '''\n${HOME} \\'''\n" +
        std::string(repository_table));
    // The directory of the blueprint is in no value.
    for (const std::string_view line : lines_of(text.text)) {
        const std::string_view value = line.substr(0, line.find('#'));
        EXPECT_EQ(value.find(directory_.string()), std::string_view::npos) << line;
    }
    // Of an image it shows the source as it is written.
    std::string expected = blueprint_json(read_.blueprint).dump(1);
    const std::string written = "\"oci:image:1\"";
    const std::size_t at = expected.find(written);
    ASSERT_NE(at, std::string::npos);
    expected.replace(at, written.size(), "\"oci:common/image:1\"");
    EXPECT_EQ(again(text), expected) << text.text;
}

TEST_F(MergedTextTest, secrets_are_hidden) {
    put("key.asc", "");
    const MergedText text = merged(
        "distro = \"lab-12\"\n" + std::string(repository_table) +
            "[[repositories]]\nid = \"s\"\nbaseurl = \"https://me:hunter22@h/\"\n"
            "gpgcheck = false\nrepo_gpgcheck = false\nusername = \"me\"\n"
            "password = \"${parameters.word}\"\n"
            "[[repositories]]\nid = \"t\"\nbaseurl = \"https://h/\"\ngpgcheck = false\n"
            "repo_gpgcheck = false\nusername = \"me\"\npassword = \"abc\"\n[parameters.word]\n",
        {{}, {"word=canary4711"}});
    EXPECT_EQ(text.text.find("hunter22"), std::string::npos);
    EXPECT_EQ(text.text.find("canary4711"), std::string::npos);
    EXPECT_EQ(text.text.find("\"abc\""), std::string::npos);
    EXPECT_EQ(text.hidden, 3U) << text.text;
}

TEST_F(MergedTextTest, names_of_files_stay_comments) {
    put("key.asc", "");
    put("b.toml", "distro = \"lab-12\"\n" + std::string(repository_table));
    std::filesystem::rename(directory_ / "b.toml", directory_ / "b\nname = 1 # .toml");
    const ReadBlueprint read = load_with_document(directory_ / "b\nname = 1 # .toml", {});
    EXPECT_EQ(again(merged_text(read.document, read.paths, {})),
              blueprint_json(read.blueprint).dump(1));
}

}  // namespace
}  // namespace edgegpu
