#include "report/tree_changes.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "commit/object.hpp"
#include "support/commit_fixture.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using test::CommitFixture;

/// "added /path", "changed /path content label": one line a change.
std::string listed(const TreeChanges& changes) {
    std::string text;
    for (const auto& [path, change] : changes) {
        text += fmt::format("{} {}", change.kind(), path);
        for (const std::string& what : change.differences()) {
            text += ' ' + what;
        }
        text += '\n';
    }
    return text;
}

/// The two newest commits of the fixture's ref.
struct Two {
    explicit Two(const CommitFixture& fixture)
        : repository(fixture.repo()),
          before(repository.open(fixture.blueprint.ostree.ref + "^")),
          after(repository.open(fixture.blueprint.ostree.ref)),
          pair{fixture.ctx(), before, after} {}
    RepositoryView repository;
    CommitView before;
    CommitView after;
    CommitPair pair;
};

TEST(TreeChanges, EveryKindOfDifferenceIsTold) {
    CommitFixture fixture;
    fixture.add_directory("/usr/lib/gone");
    fixture.add_file("/usr/lib/gone/file", "file\n");
    fixture.add_file("/usr/lib/label", "one\n").label = "a";
    fixture.add_file("/usr/lib/content", "one\n");
    fixture.add_file("/usr/lib/both", "one\n");
    fixture.add_file("/usr/lib/larger", "one\n");
    fixture.add_file("/usr/lib/owner", "one\n");
    fixture.add_file("/usr/lib/capable", "one\n");
    fixture.add_file("/usr/lib/becomes", "one\n");
    (void)fixture.build("one");

    fixture.tree.entries.erase("/usr/lib/gone/file");
    fixture.tree.entries.erase("/usr/lib/gone");
    fixture.add_directory("/usr/lib/new");
    fixture.add_file("/usr/lib/new/file", "file\n");
    fixture.tree.entries.at("/usr/lib/label").label = "b";
    fixture.add_file("/usr/lib/content", "two\n");
    fixture.add_file("/usr/lib/both", "two\n", 0600);
    fixture.add_file("/usr/lib/larger", "more\n");
    fixture.tree.entries.at("/usr/lib/owner").uid = 5;
    fixture.tree.entries.at("/usr/lib/capable").capabilities = std::string("\1\0\0\2", 4);
    fixture.tree.entries.erase("/usr/lib/becomes");
    fixture.add_directory("/usr/lib/becomes");
    fixture.add_file("/usr/lib/becomes/full", "x");
    fixture.add_link("/bin", "usr/sbin");
    fixture.add_directory("/usr/bin", 0700);
    (void)fixture.build("two");

    const Two two(fixture);
    EXPECT_EQ(listed(compare_trees(two.pair)),
              "changed /bin target\n"
              "changed /usr/bin mode\n"
              "changed /usr/lib/becomes type mode\n"
              "added /usr/lib/becomes/full\n"
              "changed /usr/lib/both content mode\n"
              "changed /usr/lib/capable attributes\n"
              "changed /usr/lib/content content\n"
              "removed /usr/lib/gone\n"
              "removed /usr/lib/gone/file\n"
              "changed /usr/lib/label label\n"
              "changed /usr/lib/larger content\n"
              "added /usr/lib/new\n"
              "added /usr/lib/new/file\n"
              "changed /usr/lib/owner owner\n");
    EXPECT_TRUE(compare_trees({fixture.ctx(), two.after, two.after}).empty());
}

TEST(TreeChanges, DirectoriesWithTheSameChecksumAreNotRead) {
    CommitFixture fixture;
    (void)fixture.build("one");
    fixture.add_file("/usr/lib/new", "new\n");
    (void)fixture.build("two");
    const Two two(fixture);
    const std::string same = two.before.find("/usr/bin")->checksum;
    fs::remove(fixture.repo() / "objects" / object_path(same, "dirtree"));
    EXPECT_EQ(listed(compare_trees(two.pair)), "added /usr/lib/new\n");
}

TEST(TreeChanges, NewContentIsWhatNoPathHadBefore) {
    CommitFixture fixture;
    fixture.add_file("/usr/lib/moves", std::string(1000, 'm'));
    (void)fixture.build("one");
    fixture.tree.entries.erase("/usr/lib/moves");
    fixture.add_file("/usr/bin/moved", std::string(1000, 'm'));
    fixture.add_file("/usr/bin/new", std::string(5000, 'n'));
    fixture.add_file("/usr/lib/new-too", std::string(5000, 'n'));
    (void)fixture.build("two");
    const Two two(fixture);
    const NewContent content = new_content(two.pair, compare_trees(two.pair));
    EXPECT_EQ(content.objects, 1U);
    EXPECT_EQ(content.bytes, 5000U);
    EXPECT_GT(content.stored_bytes, 0U);
    EXPECT_LT(content.stored_bytes, 1000U);
    const NewContent none = new_content({fixture.ctx(), two.after, two.after}, {});
    EXPECT_EQ(none.objects, 0U);
}

TEST(TreeChanges, ARangeIsADirectoryWithoutItsNeighbours) {
    TreeChanges changes;
    for (const char* path : {"/a", "/a-b", "/a-b/x", "/a.d/x", "/a/x", "/a/x/y", "/a0", "/b"}) {
        changes[path] = {};
    }
    std::string found;
    for (const auto& [path, change] : changes_below(changes, "/a")) {
        found += path + ' ';
    }
    EXPECT_EQ(found, "/a/x /a/x/y ");
    EXPECT_TRUE(changes_below(changes, "/c").empty());
}

TEST(TreeChanges, ATreeThatHoldsItselfComesToAnEnd) {
    CommitFixture fixture;
    (void)fixture.build("one");
    fixture.add_directory("/usr/lib/d");
    fixture.add_file("/usr/lib/d/file", "file\n");
    (void)fixture.build("two");
    const Two two(fixture);
    // libostree does not look whether an object is what its name says.
    const CommitNode directory = *two.after.find("/usr/lib/d");
    DirectoryContent content;
    content.directories.push_back({"again", directory.checksum, directory.meta});
    write_file(fixture.repo() / "objects" / object_path(directory.checksum, "dirtree"),
               dirtree_object(content, "/"));
    try {
        (void)compare_trees(two.pair);
        FAIL() << "it came to an end without an error";
    } catch (const Error& caught) {
        EXPECT_NE(caught.message().find("a directory is in itself"), std::string::npos)
            << caught.message();
    }
    EXPECT_EQ(new_content({fixture.ctx(), two.after, two.before}, {{"/x", {}}}).objects, 0U);
}

}  // namespace
}  // namespace edgegpu
