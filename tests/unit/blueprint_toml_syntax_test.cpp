#include <string>
#include <string_view>

#include "unit/blueprint_testing.hpp"

namespace edgegpu {

namespace {

/// A document that is not TOML, and the answer after "error: b.toml:".
struct Case {
    std::string_view text;
    std::string_view answer;
};

}  // namespace

class TomlSyntaxTest : public BlueprintTest {
protected:
    void expect(const std::vector<Case>& cases) const {
        for (const Case& one : cases) {
            EXPECT_EQ(failure(one.text), "error: b.toml:" + std::string(one.answer) + "\n")
                << one.text;
        }
    }
};

TEST_F(TomlSyntaxTest, text_without_quotes) {
    expect({
        {"hostname = inspect-01\n", "1:12: text needs quotes: hostname = \"inspect-01\""},
        {"a = b # c\n", "1:5: text needs quotes: a = \"b\""},
        {"driver = 535.261.03", "1:10: text needs quotes: driver = \"535.261.03\""},
        {"devices = [10de:20b7, 1]\n", "1:12: text needs quotes: \"10de:20b7\""},
        {"size = 16G\n", "1:8: text needs quotes: size = \"16G\""},
        {"a = /etc/x\n", "1:5: text needs quotes: a = \"/etc/x\""},
        {"a = true false\n", "1:5: text needs quotes: a = \"true false\""},
        {"a = {b = x, c = 2}\n", "1:10: text needs quotes: b = \"x\""},
        {"mode = 0644\n",
         "1:8: a number cannot begin with 0: if it is text (a mode), mode = \"0644\""},
    });
}

TEST_F(TomlSyntaxTest, a_password_is_not_shown) {
    for (const char* text : {"password = hunter22\n", "a = {password = hunter22}\n",
                             "proxy_password : hunter22\n", "PASSPHRASE = hunter22;\n"}) {
        const std::string answer = failure(text);
        EXPECT_NE(answer.find(" = \"…\""), std::string::npos) << answer;
        EXPECT_EQ(answer.find("hunter22"), std::string::npos) << answer;
    }
}

TEST_F(TomlSyntaxTest, text_of_other_files_is_not_shown) {
    put("shadow", "root:$6$salt$hash:20000:0:99999:7:::\n");
    std::filesystem::create_symlink("shadow", directory_ / "linked.toml");
    for (const char* base : {"shadow", "linked.toml"}) {
        const std::string answer = failure("extends = \"" + std::string(base) + "\"\n");
        EXPECT_NE(answer.find(std::string(base) + ":1:5: not TOML\n"), std::string::npos) << answer;
        EXPECT_EQ(answer.find("$6$"), std::string::npos) << answer;
        EXPECT_EQ(answer.find("hash"), std::string::npos) << answer;
    }
}

TEST_F(TomlSyntaxTest, quotes) {
    const std::string wrong = "these are not the quotes of TOML: ";
    EXPECT_EQ(failure("\thostname = “inspect-01”\n"),
              "error: b.toml:1:13: " + wrong + "hostname = \"inspect-01\"\n");
    EXPECT_EQ(failure("a = ‘x’"), "error: b.toml:1:5: " + wrong + "a = \"x\"\n");
    EXPECT_EQ(failure("a = [{ä.b=1}, {b=“y”}]\n").substr(0, 14), "error: b.toml:");
    expect({
        {"a = \"x\n", "1:5: the text that begins here has no closing \""},
        {"a = \"x\\\"\n", "1:5: the text that begins here has no closing \""},
        {"a = 'x\r\n", "1:5: the text that begins here has no closing '"},
        {"a = \"\"\"x\nb = 1\n", "1:5: the text that begins here has no closing \"\"\""},
        {"a = 'it's'\n", "1:5: text with ' in it needs double quotes: \"…\""},
        {"a = \"x\"y\"\n", "1:5: a \" within \"…\" is written \\\", or '…' is used for the text"},
        {"a = \"\\d+\"\n",
         "1:5: a backslash in \"…\" begins an escape: write '…' with single quotes, or \\\\ for "
         "each backslash"},
        {"a = \"x\" b\n", "1:9: only a # comment may follow the value of \"a\" on its line"},
    });
}

TEST_F(TomlSyntaxTest, habits_of_other_languages) {
    expect({
        {"enabled = yes\n", "1:11: a boolean is true or false, not yes: enabled = true"},
        {"enabled = True\n", "1:11: a boolean is true or false, not True: enabled = true"},
        {"a = [no]\n", "1:6: a boolean is true or false, not no: false"},
        {"a = null\n", "1:5: TOML has no null: leave the key out"},
        {"hostname: inspect-01\n",
         "1:9: '=' is between a key and its value, not ':': hostname = \"inspect-01\""},
        {"uid: 5\n", "1:4: '=' is between a key and its value, not ':': uid = 5"},
        {"a:\n  - b\n", "1:2: '=' is between a key and its value, not ':': a = …"},
        {"---\na: b\n", "1:1: this is YAML; a blueprint must be TOML"},
        {"- a\n", "1:1: a list is written in brackets: KEY = [\"…\", \"…\"]"},
        {"a == 1\n", "1:4: one '=' is between a key and its value"},
        {"a = 1;\n", "1:6: no ';' or ',' ends a line of TOML: a = 1"},
        {"a = \"x\",\n", "1:8: no ';' or ',' ends a line of TOML: a = \"x\""},
        {"// a\n", "1:1: a comment begins with '#'"},
        {"; a\n", "1:1: a comment begins with '#'"},
        {"export a = 1\n",
         "1:1: a key of other characters than A-Z a-z 0-9 _ - needs quotes: \"export a\" ="},
        {"ä = 1\n", "1:1: a key of other characters than A-Z a-z 0-9 _ - needs quotes: \"ä\" ="},
        {"= 1\n", "1:1: a key is missing before '='"},
        {"a =\n", "1:1: \"a\" has no value"},
        {"a\n", "1:1: not TOML: a line is KEY = VALUE, [TABLE] or # COMMENT"},
        {"a = 1\n<<<<<<< HEAD\n", "2:1: a merge of git ended here with a conflict: resolve it"},
    });
}

TEST_F(TomlSyntaxTest, brackets) {
    const std::string_view open = "1:5: the array that begins here has no closing ']'";
    expect({
        {"[nvidia\ndriver = \"535\"\n", "1:1: a bracket is missing: [nvidia]"},
        {"[[packages]\n", "1:1: a bracket is missing: [[packages]]"},
        {"[x # y\n", "1:1: a bracket is missing: [x]"},
        {"[]\n", "1:1: a table needs a name: [NAME]"},
        {"[x] y\n", "1:5: only a # comment may follow a table's name on its line"},
        {"a = [1,\n2\nb = 3\n", open},
        {"a = [\"x\",\n", open},
        {"a = [\n\"x\"\n\n[[b]]\nc = 1\n", open},
        {"a = [\"x\" \"y\"]\n", "1:10: a comma is missing between elements of the array"},
        {"a = {b = 1,\nc = 2}\n",
         "1:5: a table in braces must end on its line: use [TABLE] for several lines"},
        {"a = {b = 1,}\n", "1:12: no comma may follow the last key in braces"},
    });
}

TEST_F(TomlSyntaxTest, something_is_set_twice) {
    expect({
        {"a = 1\n\na = 2\n", "3:1: \"a\" is set already at line 1"},
        {"[[a]]\nn = 1\n[[a]]\nn = 1\nn = 2\n", "5:1: \"n\" is set already at line 4"},
        {"[x] # c\n[y]\n[x] # d\n", "3:1: [x] is there already at line 1: move these lines to it"},
        {"[x]\n[[x]]\n",
         "2:1: [x] with one bracket begins at line 1: write [[x]] there, too, if there are "
         "several"},
        {"[[x]]\n[x]\n", "2:1: [[x]] with two brackets begins at line 1: each [x] needs two"},
        {"a.b = 1\n[a]\n", "2:1: [a] is there already above: move these lines to it"},
    });
}

TEST_F(TomlSyntaxTest, bytes) {
    expect({
        {"a = 1\n b = \"\xff\"\n", "2:7: the byte 0xff is not UTF-8: save the file as UTF-8"},
        {std::string_view("\xff\xfe"
                          "a\0",
                          4),
         "1:1: the file is not UTF-8 (perhaps UTF-16): save it as UTF-8"},
        {std::string_view("a\0=\0", 4),
         "1:1: the file is not UTF-8 (perhaps UTF-16): save it as UTF-8"},
        {"a =\xc2\xa0\"x\"\n",
         "1:4: a blank that TOML does not have (U+00A0): replace it by a plain one"},
        {"a = 1\rb = 2\r",
         "1:7: lines end with CR alone: save the file with line ends of Unix (LF)"},
        {"a = \"\x01\"\n",
         "1:6: a control character in a text: if it belongs there, write \\u0001 between \"…\""},
        {"\xef\xbb\xbf"
         "a = b\n",
         "1:5: text needs quotes: a = \"b\""},
    });
    EXPECT_EQ(failure("\xef\xbb\xbf"
                      "\tdistro = \"lab-12\"\r\n"),
              "no error");
}

TEST_F(TomlSyntaxTest, what_the_parser_says_of_everything_else) {
    expect({{"a = 2026-1-1\n",
             "1:11: malformed TOML: Error while parsing date: expected 2-digit month, saw '-'"}});
}

TEST_F(TomlSyntaxTest, documents_that_end_anywhere) {
    const std::string whole =
        "a.\"b\" = [ # c\n  \"x\\\"\", 'y', {z = 1}]\r\n[[t]]\nu = \"\"\"v\nw\"\"\"\nx = “y”\n";
    for (std::size_t size = 0; size <= whole.size(); ++size) {
        const std::string answer = failure(whole.substr(0, size));
        EXPECT_EQ(answer.substr(0, 14), "error: b.toml:") << answer;
    }
}

}  // namespace edgegpu
