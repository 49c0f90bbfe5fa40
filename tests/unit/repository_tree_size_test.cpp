#include "repository/tree_size.hpp"

#include <string>

#include <gtest/gtest.h>

#include "commit/object.hpp"
#include "encapsulate/container_tree.hpp"
#include "report/tree_changes.hpp"
#include "support/commit_fixture.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

using test::CommitFixture;

template <typename Call>
std::string refusal_of(const Call& call) {
    try {
        call();
    } catch (const Error& caught) {
        EXPECT_NE(caught.hint(), "");
        return caught.message();
    }
    return "no error";
}

/// A commit whose /usr/lib/d is the top of `levels` directories: each has two entries, which are
/// one object. Of 40 levels there are 10^12 paths.
class SharedTrees : public testing::Test {
protected:
    CommitView commit(unsigned levels, const std::string& name = "dddd") {
        fixture_.add_directory("/usr/lib/d");
        fixture_.add_file("/usr/lib/d/file", "file\n");
        const Commit made = fixture_.build(name);
        const CommitView view = RepositoryView(fixture_.repo()).open(made.checksum);
        const CommitNode top = *view.find("/usr/lib/d");
        DirectoryContent below;
        for (unsigned level = 1; level < levels; ++level) {
            const std::string object = dirtree_object(below, "/");
            const std::string checksum = sha256_hex(object);
            put(checksum, object);
            below = {};
            below.directories.push_back({name + "1", checksum, top.meta});
            below.directories.push_back({name + "2", checksum, top.meta});
        }
        put(top.checksum, dirtree_object(below, "/"));
        return RepositoryView(fixture_.repo()).open(made.checksum);
    }

    std::string refused(const CommitView& view, const TreeLimits& limits = {}) const {
        return refusal_of([&] { require_walkable(fixture_.ctx(), view, limits); });
    }

    CommitFixture fixture_;

private:
    void put(const std::string& checksum, const std::string& object) const {
        const std::filesystem::path place =
            fixture_.repo() / "objects" / object_path(checksum, "dirtree");
        make_directories(place.parent_path());
        write_file(place, object);
    }
};

TEST_F(SharedTrees, AreCountedBeforeTheyAreWalked) {
    const CommitView view = commit(41);
    EXPECT_EQ(refused(view),
              "commit " + view.info().checksum + ": its tree has more than 4194304 paths");
    EXPECT_EQ(refusal_of([&] { static_cast<void>(read_container_tree(fixture_.ctx(), view)); }),
              refused(view));
}

TEST_F(SharedTrees, AreNotCompared) {
    fixture_.add_directory("/usr/lib/d");
    const Commit first = fixture_.build("before");
    const CommitView after = commit(41);
    const CommitView before = RepositoryView(fixture_.repo()).open(first.checksum);
    EXPECT_NE(refusal_of([&] {
                  static_cast<void>(compare_trees({fixture_.ctx(), before, after}));
              }).find("has more than 4194304 paths"),
              std::string::npos);
}

TEST_F(SharedTrees, OfNoMoreLevelsThanTheirNamesAllowAreRefused) {
    const CommitView view = commit(18, std::string(250, 'd'));
    EXPECT_EQ(refused(view),
              "commit " + view.info().checksum + ": its tree has paths of more than 4095 bytes");
}

TEST_F(SharedTrees, CountAsWhatTheyAre) {
    // 1 + 2 + 4 + … directories below /usr/lib/d.
    const CommitView view = commit(5);
    std::uint64_t paths = 0;
    std::uint64_t bytes = 0;
    const ContainerTree tree = read_container_tree(fixture_.ctx(), view);
    for (const auto& directory : tree.directories) {
        paths += directory.path == "/" ? 0 : 1;
        bytes += directory.path == "/" ? 0 : directory.path.size();
    }
    for (const auto& [checksum, object] : tree.objects) {
        paths += object.paths.size();
        for (const std::string& path : object.paths) {
            bytes += path.size();
        }
    }
    EXPECT_EQ(refused(view, {paths, 4095, bytes}), "no error");
    EXPECT_NE(refused(view, {paths - 1, 4095, bytes}), "no error");
    EXPECT_NE(refused(view, {paths, 4095, bytes - 1}), "no error");
}

}  // namespace
}  // namespace edgegpu
