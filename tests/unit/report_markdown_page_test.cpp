#include <gtest/gtest.h>

#include "report/format/diff_page.hpp"
#include "report/format/formats.hpp"
#include "unit/report_diff_fixture.hpp"

namespace edgegpu {
namespace {

using test::ReportDiff;

TEST(MarkdownPage, CodeThatNoNameCanLeave) {
    EXPECT_EQ(markdown_code(""), "");
    EXPECT_EQ(markdown_code("bash-5.1.8_2+x"), "`bash-5.1.8_2+x`");
    EXPECT_EQ(markdown_code("<b> *x* @user www.example.com"), "`<b> *x* @user www.example.com`");
    EXPECT_EQ(markdown_code("a|b"), "<code>a&#124;<!-- -->b</code>");
    EXPECT_EQ(markdown_code("``"), "<code>&#96;<!-- -->&#96;<!-- --></code>");
    EXPECT_EQ(markdown_code("a\\"), "<code>a&#92;<!-- --></code>");
    EXPECT_EQ(markdown_code("`<@a.b>"),
              "<code>&#96;<!-- -->&#60;<!-- -->&#64;<!-- -->a&#46;<!-- -->b&#62;<!-- --></code>");
    // On one line, and nothing for a terminal.
    EXPECT_EQ(markdown_code("a\n# b"), "`a # b`");
    EXPECT_EQ(markdown_code("\033"), "<code>&#92;<!-- -->x1b</code>");
}

TEST_F(ReportDiff, MarkdownHasHeadingsTablesAndLists) {
    add_package("bash", 0, "1");
    fixture_.add_file("/usr/etc/modprobe.d/a.conf", "blacklist floppy\n");
    commit("one");
    fixture_.tree.packages.clear();
    add_package("bash", 0, "2");
    fixture_.tree.kernel_arguments = {"nosmt", "quiet"};
    fixture_.add_file("/usr/etc/modprobe.d/a.conf", "blacklist nouveau\n");
    commit("two");
    const std::string notes = diff_markdown(diff());
    for (const std::string& part :
         {"# Changes of `" + fixture_.blueprint.ostree.ref + "`\n",
          std::string("\n## Packages\n\n1 upgraded\n\n| | Package | Version |\n|---|---|---|\n"
                      "| `~` | `bash.x86_64` | `1-1 -> 2-1` |\n"),
          std::string("\n## Kernel arguments\n\n2 added\n\n- `+` `nosmt`\n- `+` `quiet`\n"),
          std::string("\n- `~` `/usr/etc/modprobe.d/a.conf`\n  - `+` `blacklist nouveau`\n"
                      "  - `-` `blacklist floppy`\n"),
          std::string("\n## Upgrade\n"), std::string("\nNo difference: Units, ")}) {
        EXPECT_NE(notes.find(part), std::string::npos) << part << "in\n" << notes;
    }
}

TEST_F(ReportDiff, NamesFromTheRepositoryAreNeitherMarkdownNorHtml) {
    commit("one");
    const std::string evil = "`</code>|<script>x()</script>|![i](//e) <!-- @a";
    const std::string file = "`<code>|<script>x()<script>|![i](e) <!-- @a";
    fixture_.add_file("/usr/lib/" + file, "x");
    fixture_.add_file(std::string(units) + "/" + file + ".service", "[Unit]\n");
    fixture_.add_file("/usr/etc/passwd", evil + "x:x:1:1::/" + evil + ":/bin/sh\n");
    fixture_.add_file("/usr/etc/modprobe.d/" + file, "options " + evil + "\n");
    fixture_.add_directory("/usr/etc/microshift/manifests/" + file);
    fixture_.add_file("/usr/etc/microshift/manifests/" + file + "/kustomization.yaml", "1");
    fixture_.tree.entries.at("/usr/bin/tool").label = evil;
    fixture_.tree.kernel_arguments = {evil};
    fixture_.resolution.driver_version = evil;
    fixture_.blueprint.version = evil;
    add_package(evil, 0, evil);
    commit("two");
    const std::string notes = diff_markdown(diff());
    for (const char* piece : {"<script", "![i]", "|<", ">|", "@a", "</code>|"}) {
        EXPECT_EQ(notes.find(piece), std::string::npos) << piece << " in\n" << notes;
    }
}

}  // namespace
}  // namespace edgegpu
