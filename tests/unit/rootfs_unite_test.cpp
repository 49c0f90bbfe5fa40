#include <gtest/gtest.h>

#include "compose_fixture.hpp"
#include "rootfs/order.hpp"
#include "rootfs/scripts.hpp"
#include "rootfs/shims.hpp"
#include "rootfs/unite.hpp"

namespace edgegpu {
namespace {

using test::ComposeFixture;
using test::error_message;

ImportedFile item(const std::string& path, EntryType type, unsigned mode,
                  const std::string& value = "") {
    ImportedFile file;
    file.path = path;
    file.user = file.group = "root";
    file.entry.type = type;
    file.entry.mode = mode;
    (type == EntryType::symlink ? file.entry.target : file.entry.digest) = value;
    return file;
}

ImportedPackage unpacked(const std::string& name, std::vector<ImportedFile> files) {
    ImportedPackage result;
    result.nevra = {name, 0, "1", "1", "noarch"};
    result.files = std::move(files);
    return result;
}

std::vector<ImportedPackage> two(ImportedPackage a, ImportedPackage b) {
    std::vector<ImportedPackage> packages;
    packages.push_back(std::move(a));
    packages.push_back(std::move(b));
    return packages;
}

TEST(Unite, PathsThroughLinksLandAtTheirEndInAnyOrder) {
    const ImportedFile link = item("/bin", EntryType::symlink, 0777, "usr/bin");
    const ImportedFile sh = item("/bin/sh", EntryType::file, 0755, "aa");
    for (const bool link_first : {true, false}) {
        const auto packages = link_first ? two(unpacked("f", {link}), unpacked("s", {sh}))
                                         : two(unpacked("s", {sh}), unpacked("f", {link}));
        const United united = unite(packages);
        ASSERT_TRUE(united.entries.contains("/usr/bin/sh"));
        EXPECT_EQ(united.entries.at("/bin").type, EntryType::symlink);
        EXPECT_EQ(united.entries.at("/usr/bin").mode, 0755U);
        EXPECT_FALSE(united.entries.contains("/bin/sh"));
    }
}

TEST(Unite, LinksOfAPackageNeverLeadAboveTheRoot) {
    const auto packages = two(unpacked("a", {item("/x", EntryType::symlink, 0777, "../../../tmp")}),
                              unpacked("b", {item("/x/file", EntryType::file, 0644, "aa")}));
    EXPECT_TRUE(unite(packages).entries.contains("/tmp/file"));
}

TEST(Unite, LoopsAreAnError) {
    const auto packages = two(unpacked("a", {item("/x", EntryType::symlink, 0777, "y"),
                                             item("/y", EntryType::symlink, 0777, "x")}),
                              unpacked("b", {item("/x/file", EntryType::file, 0644, "aa")}));
    EXPECT_THROW(static_cast<void>(unite(packages)), Error);
}

TEST(Unite, TheSameFileTwiceIsFineAnotherIsNot) {
    const ImportedFile one = item("/usr/x", EntryType::file, 0644, "aa");
    const ImportedFile other = item("/usr/x", EntryType::file, 0644, "bb");
    EXPECT_NO_THROW(static_cast<void>(unite(two(unpacked("a", {one}), unpacked("b", {one})))));
    EXPECT_EQ(error_message([&] {
                  static_cast<void>(unite(two(unpacked("a", {one}), unpacked("b", {other}))));
              }),
              "packages a-1-1.noarch and b-1-1.noarch both ship /usr/x, with different content");
}

TEST(Unite, GhostsAreNotMade) {
    ImportedFile ghost = item("/var/log/x", EntryType::file, 0644);
    ghost.flags = RPMFILE_GHOST;
    const United united = unite(two(unpacked("a", {ghost}), unpacked("b", {})));
    EXPECT_FALSE(united.entries.contains("/var/log/x"));
    EXPECT_FALSE(united.entries.contains("/var"));
}

TEST(Unite, OwnersByNameAreKeptInOrder) {
    ImportedFile directory = item("/srv/x", EntryType::directory, 0750);
    directory.user = "app";
    const United united = unite(two(unpacked("a", {directory}), unpacked("b", {})));
    ASSERT_EQ(united.owners.size(), 1U);
    EXPECT_EQ(united.owners[0].user, "app");
    EXPECT_EQ(united.owners[0].package, "a-1-1.noarch");
}

TEST(Calls, SurviveARoundTrip) {
    const std::vector<std::vector<std::string>> calls{{"semodule", "-i", "a b\n"}, {"setsebool"}};
    EXPECT_EQ(parse_calls(format_calls(calls)), calls);
    EXPECT_THROW(static_cast<void>(parse_calls("2")), Error);
    EXPECT_THROW(static_cast<void>(parse_calls(std::string("2\0a\0", 4))), Error);
}

TEST(Scripts, RunInTheOrderOfRpm) {
    ComposeFixture fixture;
    const PackageFile base =
        fixture.build("base",
                      "%filetriggerin -- /usr/share/app\ncat\n%transfiletriggerin -P 5 -- "
                      "/usr/share\ncat\n%triggerin -- app >= 1\necho\n%triggerin -- app > "
                      "1\nnever\n%post\nbase\n%files\n");
    const PackageFile app = fixture.build(
        "app",
        "%pre\na\n%post -p <lua>\nprint(1)\n%posttrans\nc\n%install\nmkdir -p "
        "%{buildroot}/usr/share/app\ntouch %{buildroot}/usr/share/app/f\n%files\n/usr/share/app\n",
        "Requires: base\n");
    const auto packages = order_packages(import_packages(fixture.context, {app, base}));
    ASSERT_EQ(packages.at(0).nevra.name, "base");
    const ScriptPlan plan = plan_scripts(packages);
    ASSERT_EQ(plan.before.size(), 1U);
    EXPECT_EQ(plan.before[0].kind, "%pre");
    EXPECT_EQ(plan.before[0].arguments, std::vector<int>{1});
    std::vector<std::string> kinds;
    for (const Script& script : plan.after) {
        kinds.push_back(packages[script.package].nevra.name + " " + script.kind);
    }
    EXPECT_EQ(kinds, (std::vector<std::string>{"base %post", "base %filetriggerin", "app %post",
                                               "base %triggerin (on app)", "app %posttrans",
                                               "base %transfiletriggerin"}));
    EXPECT_EQ(plan.after[1].input, "/usr/share/app\n/usr/share/app/f\n");
    EXPECT_EQ(plan.after[2].interpreter.front(), "<lua>");
    EXPECT_EQ(plan.after[3].arguments, (std::vector<int>{1, 1}));
    EXPECT_EQ(plan.after[3].body, "echo");
}

}  // namespace
}  // namespace edgegpu
