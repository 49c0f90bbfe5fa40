#include "blueprint/document/parameters.hpp"

#include "unit/blueprint_testing.hpp"

namespace edgegpu {
namespace {

class ParametersTest : public BlueprintTest {
protected:
    [[nodiscard]] Blueprint parse_with(std::string_view text, const GivenParameters& given) const {
        put("b.toml", text);
        return parse_blueprint(directory_ / "b.toml", {{}, "", given});
    }
    [[nodiscard]] std::string failure_with(std::string_view text,
                                           const std::vector<std::string>& set,
                                           const std::vector<std::string>& files = {}) const {
        GivenParameters given{{}, set};
        for (const std::string& file : files) {
            given.files.push_back(directory_ / file);
        }
        try {
            static_cast<void>(parse_with("distro = \"lab-12\"\n" + std::string(text), given));
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::usage);
            return shown(error.render());
        }
        return "no error";
    }
    using Texts = std::vector<std::string>;
};

constexpr const char* every_type = R"(distro = "lab-12"
excludes = "${parameters.leave-out}"
weak_dependencies = "${parameters.weak}"
[ostree]
ref = "lab/${parameters.site}/${parameters.gpus}-${parameters.weak}"
[nvidia]
driver = "535"
gpus = "${parameters.gpus}"
[parameters.site]
[parameters.gpus]
type = "integer"
default = 1
[parameters.weak]
type = "boolean"
default = false
[parameters.leave-out]
type = "strings"
default = []
)";

TEST_F(ParametersTest, values_have_the_types_of_their_parameters) {
    const Blueprint defaults = parse_with(every_type, {{}, {"site=a"}});
    EXPECT_EQ(defaults.ostree.ref, "lab/a/1-false");
    EXPECT_EQ(defaults.nvidia->gpus, 1U);
    EXPECT_TRUE(defaults.excludes.empty());
    const Blueprint given =
        parse_with(every_type, {{}, {"site=b", "gpus=4", "weak=true", "leave-out=x,y"}});
    EXPECT_EQ(given.ostree.ref, "lab/b/4-true");
    EXPECT_EQ(given.nvidia->gpus, 4U);
    EXPECT_TRUE(given.weak_dependencies);
    EXPECT_EQ(given.excludes, (Texts{"x", "y"}));
    EXPECT_TRUE(parse_with(every_type, {{}, {"site=b", "leave-out="}}).excludes.empty());
}

TEST_F(ParametersTest, files_and_their_order) {
    put("one.toml", "site = \"one\"\ngpus = 2\nleave-out = [\"a\"]\n");
    put("two.toml", "site = \"two\"\n");
    const GivenParameters given{{directory_ / "one.toml", directory_ / "two.toml"}, {"gpus=3"}};
    const Blueprint blueprint = parse_with(every_type, given);
    EXPECT_EQ(blueprint.ostree.ref, "lab/two/3-false");
    EXPECT_EQ(blueprint.excludes, Texts{"a"});
}

TEST_F(ParametersTest, a_variant_gives_a_default_to_the_parameters_of_its_base) {
    put("base.toml", every_type);
    EXPECT_EQ(parse("extends = \"base.toml\"\nparameters.site.default = \"v\"\n"
                    "parameters.gpus.default = 2\n")
                  .ostree.ref,
              "lab/v/2-false");
    EXPECT_EQ(failure("extends = \"base.toml\"\nparameters.site.default = \"v\"\n"
                      "parameters.gpus.default = \"2\"\n"),
              "error: b.toml:3:27: parameter \"gpus\" must be an integer, not a string\n"
              "hint: its type is \"integer\": base.toml:11:8\n");
}

TEST_F(ParametersTest, what_is_given_must_fit) {
    const std::string site = "[parameters.site]\none_of = [\"berlin\", \"bonn\"]\n";
    const std::string gpus = "[parameters.gpus]\ntype = \"integer\"\n";
    const std::string weak = "[parameters.weak]\ntype = \"boolean\"\n";
    EXPECT_EQ(failure_with(site, {}),
              "error: b.toml:2:1: parameter \"site\" has no value\n"
              "hint: give it one: --set site=VALUE, or default = VALUE\n");
    EXPECT_EQ(failure_with(site, {"site=berlim"}),
              "error: --set site: parameter \"site\" must be one of berlin, bonn, not \"berlim\"\n"
              "hint: did you mean 'berlin'?\n");
    EXPECT_EQ(failure_with(site, {"sit=bonn"}),
              "error: --set sit: b.toml has no parameter \"sit\"\n"
              "hint: did you mean 'site'?\n");
    EXPECT_EQ(failure_with("", {"a=b"}),
              "error: --set a: b.toml has no parameter \"a\"\nhint: declare it: [parameters.a]\n");
    EXPECT_EQ(failure_with(site, {"site=bonn", "site=berlin"}),
              "error: --set site: the parameter is given twice\n");
    EXPECT_EQ(failure_with(site, {"site"}), "error: --set: \"site\" is not NAME=VALUE\n");
    EXPECT_EQ(failure_with(site, {"=bonn"}), "error: --set: \"=bonn\" is not NAME=VALUE\n");
    for (const char* number : {"", "x", "1x", " 1", "0x1", "1.0", "99999999999999999999", "+1"}) {
        EXPECT_EQ(failure_with(gpus, {"gpus=" + std::string(number)}),
                  "error: --set gpus: \"" + std::string(number) +
                      "\" is not an integer\nhint: as in --set gpus=4; its type is \"integer\": "
                      "b.toml:3:8\n");
    }
    EXPECT_EQ(failure_with(weak, {"weak=yes"}),
              "error: --set weak: \"yes\" is not a boolean\n"
              "hint: as in --set weak=true; its type is \"boolean\": b.toml:3:8\n");
    EXPECT_EQ(failure_with("[parameters.site]\n", {"site=\xff"}),
              "error: --set site: the value is not UTF-8\n");
    put("given.toml", "gpus = \"4\"\nother = 1\n");
    EXPECT_EQ(failure_with(gpus, {}, {"given.toml"}),
              "error: given.toml:1:8: parameter \"gpus\" must be an integer, not a string\n"
              "hint: its type is \"integer\": b.toml:3:8\n"
              "error: given.toml:2:1: b.toml has no parameter \"other\"\n"
              "hint: its parameters: gpus\n");
    EXPECT_EQ(failure_with(gpus, {}, {"none.toml"}),
              "error: --parameters: none.toml: No such file or directory\n");
    put("given.toml", "gpus = \n");
    EXPECT_EQ(failure_with(gpus, {}, {"given.toml"}).rfind("error: given.toml:1:", 0), 0U);
}

TEST_F(ParametersTest, declarations_must_make_sense) {
    EXPECT_EQ(failure_of("parameters = 1\n"),
              "error: b.toml:2:14: \"parameters\" must be a table, not an integer\n");
    EXPECT_EQ(failure_of("[parameters]\nsite = \"a\"\n"),
              "error: b.toml:3:8: \"parameters.site\" must be a table, not a string\n");
    EXPECT_EQ(failure_of("[parameters.site]\ntype = \"text\"\n"),
              "error: b.toml:3:8: \"parameters.site.type\" must be one of \"string\", \"integer\", "
              "\"boolean\", \"strings\", not \"text\"\n");
    EXPECT_EQ(failure_of("[parameters.site]\ndefalt = \"a\"\n"),
              "error: b.toml:3:1: unknown key \"parameters.site.defalt\"\n"
              "hint: did you mean \"parameters.site.default\"?\n");
    EXPECT_EQ(failure_of("[parameters.\"a b\"]\n"),
              "error: b.toml:2:1: invalid name of a parameter \"a b\"\n"
              "hint: letters, digits, '_' and '-'\n");
    EXPECT_EQ(failure_of("[parameters.site]\ndefault = \"c\"\none_of = [\"a\", \"b\"]\n"),
              "error: b.toml:3:11: parameter \"site\" must be one of a, b, not \"c\"\n"
              "hint: did you mean 'a' or 'b'?\n");
    EXPECT_EQ(failure_of("[parameters.x]\ntype = \"integer\"\none_of = [\"a\"]\n"),
              "error: b.toml:4:10: \"parameters.x.one_of\" must be an array of integers\n");
    EXPECT_EQ(failure_of("[parameters.x]\ntype = \"boolean\"\none_of = [true]\n"),
              "error: b.toml:4:10: \"parameters.x.one_of\" must be an array of strings\n"
              "hint: a boolean needs none\n");
    EXPECT_EQ(failure_of("[parameters.x]\ndefault = \"${parameters.y}\"\n[parameters.y]\n"
                         "default = \"\"\n"),
              "error: b.toml:3:11: [parameters] cannot have parameters\n");
}

TEST_F(ParametersTest, uses_must_make_sense) {
    const std::string list = "[parameters.list]\ntype = \"strings\"\ndefault = [\"a\"]\n";
    EXPECT_EQ(failure_of("name = \"${parameters.lst}\"\n" + list),
              "error: b.toml:2:8: b.toml has no parameter \"lst\"\nhint: did you mean 'list'?\n");
    EXPECT_EQ(failure_of("name = \"${parameters.\"\n"),
              "error: b.toml:2:8: \"${parameters.\" without \"}\"\n"
              "hint: \"$${parameters.\" is that text itself\n");
    const std::string hint = "hint: as in KEY = \"${parameters.list}\"\n";
    EXPECT_EQ(failure_of("name = \"a ${parameters.list}\"\n" + list),
              "error: b.toml:2:8: parameter \"list\" is an array: it can only be the whole value "
              "of a key\n" +
                  hint);
    EXPECT_EQ(failure_of("excludes = [\"${parameters.list}\"]\n" + list),
              "error: b.toml:2:13: parameter \"list\" is an array: it can only be the whole value "
              "of a key\n" +
                  hint);
    EXPECT_EQ(failure_of("[modprobe.options]\n\"${parameters.list}\" = \"x\"\n" + list),
              "error: b.toml:3:1: a key cannot have parameters: \"${parameters.list}\"\n");
    // The table that reads a value judges its type, where the blueprint has it.
    EXPECT_EQ(failure_of("name = \"${parameters.list}\"\n" + list),
              "error: b.toml:2:8: \"name\" must be a string, not an array\n");
}

TEST_F(ParametersTest, a_value_is_never_read_as_toml_or_replaced_again) {
    const std::string text =
        "distro = \"lab-12\"\ndescription = \"<${parameters.x}>\"\n"
        "[parameters.x]\n[parameters.y]\ndefault = \"y\"\n";
    for (const std::string value : {"\"\nname = \"other", "a\"]\n[nvidia]\ndriver = 1 # ",
                                    "'''\\u0041\"\"\"", "${parameters.y}", "$${parameters.y}", "$",
                                    "${", "a=b", "\x01\x7f\t", "[a,b]", " ", ""}) {
        const Blueprint blueprint = parse_with(text, {{}, {"x=" + value}});
        EXPECT_EQ(blueprint.description, '<' + value + '>');
        EXPECT_EQ(blueprint.name, "");
        EXPECT_FALSE(blueprint.nvidia);
    }
    EXPECT_EQ(failure_with("name = \"a ${parameters.x}\"\n[parameters.x]\n", {"x=a\nb"}),
              "error: b.toml:2:8: \"name\" contains a control character\n");
}

TEST_F(ParametersTest, other_dollars_keep_their_meaning) {
    const Blueprint blueprint = parse_with(
        R"(distro = "lab-12"
description = "$x ${x} ${HOME} $${x} {parameters.x} $${parameters.x} $$${parameters.x} ${parameters.x}"
[parameters.x]
[[repositories]]
id = "r"
baseurl = "https://h/$releasever/${basearch}/${parameters.x}"
)",
        {{}, {"x=$releasever"}});
    EXPECT_EQ(blueprint.description,
              "$x ${x} ${HOME} $${x} {parameters.x} ${parameters.x} $${parameters.x} $releasever");
    EXPECT_EQ(blueprint.repositories[0].baseurls[0], "https://h/12/x86_64/12");
}

TEST_F(ParametersTest, empty_values_cannot_be_multiplied_either) {
    std::string text;
    for (int i = 0; i < 1000; ++i) {
        text += "k" + std::to_string(i) + " = \"${parameters.x}\"\n";
    }
    text += "[parameters.x]\ntype = \"strings\"\ndefault = [";
    for (int i = 0; i < 20000; ++i) {
        text += "\"\", ";
    }
    EXPECT_NE(failure(text + "]\n").find(": parameters become more than 64 MiB of values\n"),
              std::string::npos);
}

TEST_F(ParametersTest, text_cannot_be_multiplied_without_end) {
    std::string uses = "excludes = [";
    for (int i = 0; i < 2000; ++i) {
        uses += "\"${parameters.x}\", ";
    }
    const std::string message =
        failure_with(uses + "]\n[parameters.x]\n", {"x=" + std::string(100000, 'a')});
    EXPECT_EQ(message.substr(message.find(": ", 15)),
              ": parameters become more than 64 MiB of values\n");
}

TEST_F(ParametersTest, parameters_that_nothing_uses_are_a_warning) {
    EXPECT_EQ(parse("distro = \"lab-12\"\nname = \"${x}\"\n[parameters.x]\ndefault = \"a\"\n")
                  .warnings.at(0)
                  .substr(directory_.string().size() + 1),
              "b.toml:3:1: parameter \"x\" is not used: no value has \"${parameters.x}\"");
}

}  // namespace
}  // namespace edgegpu
