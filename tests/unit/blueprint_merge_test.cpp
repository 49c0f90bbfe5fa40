#include "blueprint/document/merge.hpp"

#include "unit/blueprint_testing.hpp"

namespace edgegpu {
namespace {

class Merge : public BlueprintTest {
protected:
    Merge() {
        put("base.toml", R"(distro = "lab-12"
excludes = ["a", "b"]
[nvidia]
driver = "535"
toolkit = "1.17.*"
[[packages]]
name = "vim"
version = "9.*"
[[packages]]
name = "jq"
[customizations.services]
enabled = ["sshd"]
[[systemd.units]]
name = "a.service"
contents = "x"
)");
    }
    [[nodiscard]] static std::vector<std::string> specs(const Blueprint& blueprint) {
        std::vector<std::string> names;
        for (const PackageRequest& request : blueprint.packages) {
            names.push_back(request.spec);
        }
        return names;
    }
    using Texts = std::vector<std::string>;
};

TEST_F(Merge, tables_are_merged_arrays_appended_and_the_rest_replaced) {
    const Blueprint merged = parse(R"(extends = "base.toml"
excludes = ["c"]
[nvidia]
driver = "550"
[[packages]]
name = "less"
)");
    EXPECT_EQ(merged.nvidia->driver, "550");
    EXPECT_EQ(merged.nvidia->toolkit, "1.17.*");
    EXPECT_EQ(merged.distro, "lab-12");
    EXPECT_EQ(merged.excludes, (Texts{"a", "b", "c"}));
    EXPECT_EQ(specs(merged), (Texts{"vim-9.*", "jq", "less"}));
    EXPECT_EQ(merged.services.enabled, Texts{"sshd"});
}

TEST_F(Merge, what_is_inherited_can_be_left_out) {
    const Blueprint merged = parse(R"(extends = "base.toml"
without = ["nvidia.toolkit", "packages.vim", "excludes", 'systemd.units."a.service"']
excludes = ["c"]
[[packages]]
name = "vim"
)");
    EXPECT_EQ(merged.nvidia->toolkit, "");
    EXPECT_EQ(merged.excludes, Texts{"c"});
    EXPECT_EQ(specs(merged), (Texts{"jq", "vim"}));
    EXPECT_TRUE(merged.systemd.units.empty());
    EXPECT_FALSE(parse("extends = \"base.toml\"\nwithout = [\"nvidia\"]\n").nvidia);
    EXPECT_EQ(parse("extends = \"base.toml\"\nwithout = [\"excludes.a\"]\n").excludes, Texts{"b"});
    EXPECT_EQ(specs(parse("extends = \"base.toml\"\nwithout = [\"packages.vim.version\"]\n")),
              (Texts{"vim", "jq"}));
}

TEST_F(Merge, what_is_not_inherited_cannot_be_left_out) {
    const auto without = [&](const std::string& name) {
        return failure("extends = \"base.toml\"\nwithout = ['" + name + "']\n");
    };
    EXPECT_EQ(without("packages.vin"),
              "error: b.toml:2:12: nothing is inherited as \"packages.vin\"\n"
              "hint: did you mean 'vim'?\n");
    EXPECT_EQ(without("nvida.toolkit"),
              "error: b.toml:2:12: nothing is inherited as \"nvida.toolkit\"\n"
              "hint: did you mean 'nvidia'?\n");
    EXPECT_EQ(without("systemd.units.a.service").find("nothing is inherited as"), 20U);
    EXPECT_EQ(without("nvidia.driver.x"),
              "error: b.toml:2:12: nothing is inherited as \"nvidia.driver.x\"\n");
    for (const char* name : {".", "a.", ".a", "a..b", "\"a", "a.\"b"}) {
        EXPECT_EQ(without(name).substr(0, without(name).find('\n')),
                  "error: b.toml:2:12: \"" + std::string(name) +
                      "\" is not the name of something inherited");
    }
    EXPECT_EQ(without("\"a\"b"), "error: b.toml:2:12: \"\"a\"b\" has no dot after a quoted part\n");
    EXPECT_EQ(failure("without = [\"a\"]\n"),
              "error: b.toml:1:11: \"without\" has no effect without \"extends\"\n");
    EXPECT_EQ(failure("extends = \"base.toml\"\nwithout = \"nvidia\"\n"),
              "error: b.toml:2:11: \"without\" must be an array of strings, not a string\n");
    EXPECT_EQ(failure("extends = \"base.toml\"\nwithout = [1]\n"),
              "error: b.toml:2:12: \"without\" must be a string, not an integer\n");
}

TEST_F(Merge, a_table_an_array_and_a_value_do_not_replace_each_other) {
    EXPECT_EQ(failure("extends = \"base.toml\"\nnvidia = \"535\"\npackages.vim = 1\n"
                      "[excludes]\n[distro]\n"),
              "error: b.toml:2:10: \"nvidia\" is a string here, and a table at base.toml:3:1\n"
              "hint: to replace what is inherited: without = [\"nvidia\"]\n"
              "error: b.toml:3:1: \"packages\" is a table here, and an array at base.toml:6:1\n"
              "hint: to replace what is inherited: without = [\"packages\"]\n"
              "error: b.toml:4:1: \"excludes\" is a table here, and an array at base.toml:2:12\n"
              "hint: to replace what is inherited: without = [\"excludes\"]\n"
              "error: b.toml:5:1: \"distro\" is a table here, and a string at base.toml:1:10\n"
              "hint: to replace what is inherited: without = [\"distro\"]\n");
    // Of another type, but no more than a value: the table that reads it judges.
    EXPECT_EQ(failure("extends = \"base.toml\"\nnvidia.toolkit = 1\n"),
              "error: b.toml:2:18: \"nvidia.toolkit\" must be a string, not an integer\n");
}

TEST_F(Merge, messages_name_the_file_that_says_it) {
    put("bad.toml",
        "[nvidia]\ndriver = \"x\"\nflavour = \"open\"\n[[customizations.user]]\n"
        "name = \"a\"\n");
    EXPECT_EQ(failure("extends = \"bad.toml\"\ndistro = \"lab-12\"\nexclude = 1\n"
                      "[[customizations.user]]\nname = \"a\"\n"),
              "error: b.toml:3:1: unknown key \"exclude\"\nhint: did you mean \"excludes\"?\n"
              "error: b.toml:4:1: duplicate user \"a\" (first at bad.toml:4:1)\n"
              "error: bad.toml:2:10: \"nvidia.driver\" must be a branch, a version or \"latest\", "
              "not \"x\"\nhint: as in \"535\" or \"535.261.03\"\n"
              "error: bad.toml:3:1: unknown key \"nvidia.flavour\"\n"
              "hint: did you mean \"nvidia.flavor\"?\n");
}

}  // namespace
}  // namespace edgegpu
