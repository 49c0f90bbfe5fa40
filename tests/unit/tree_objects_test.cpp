#include "repository/tree_objects.hpp"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "support/commit_fixture.hpp"

namespace edgegpu {
namespace {

TEST(TreeObjects, NothingComesBeforeWhatItRefersTo) {
    test::CommitFixture fixture;
    for (const char* path : {"/usr/lib/a", "/usr/lib/b", "/usr/lib/b/deep", "/usr/lib/b/deep/er"}) {
        fixture.add_directory(path);
    }
    fixture.add_file("/usr/lib/a/one", "same");
    fixture.add_file("/usr/lib/b/one", "same");
    fixture.add_file("/usr/lib/b/deep/er/two", "two");
    static_cast<void>(fixture.build("inputs"));
    const CommitView commit = RepositoryView(fixture.repo()).open(fixture.blueprint.ostree.ref);
    const TreeObjects objects = list_objects(fixture.ctx(), commit);

    std::set<std::string> there;
    for (const TreeObject& file : objects.files) {
        EXPECT_EQ(file.type, OSTREE_OBJECT_TYPE_FILE);
        EXPECT_TRUE(there.insert(file.checksum).second) << file.path << " is there twice";
    }
    for (const TreeObject& object : objects.directories) {
        if (object.type == OSTREE_OBJECT_TYPE_DIR_TREE) {
            for (const auto& [name, node] : commit.list({true, object.checksum, ""}, object.path)) {
                EXPECT_TRUE(there.contains(node.checksum)) << object.path << '/' << name;
                EXPECT_TRUE(!node.directory || there.contains(node.meta)) << object.path << name;
            }
        }
        EXPECT_TRUE(there.insert(object.checksum).second) << object.path << " is there twice";
    }
    EXPECT_EQ(objects.directories.back().checksum, commit.root().checksum);
    EXPECT_TRUE(there.contains(commit.root().meta));
}

}  // namespace
}  // namespace edgegpu
