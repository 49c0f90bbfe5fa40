#include "repository/object_walk.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "repository/object_files.hpp"
#include "repository/versions.hpp"
#include "support/commit_fixture.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

class ObjectWalkTest : public testing::Test {
protected:
    ObjectWalkTest() {
        fixture.add_directory("/usr/share");
        fixture.add_directory("/usr/share/doc");
        fixture.add_file("/usr/share/doc/file", "a text\n");
        commit = fixture.build().checksum;
    }

    [[nodiscard]] fs::path file_of(const TreeObject& object) const {
        return fixture.repo() / "objects" / object_file_name(object.type, object.checksum);
    }

    /// The object of a path.
    [[nodiscard]] TreeObject at(const std::string& path, OstreeObjectType type) const {
        const CommitNode node = RepositoryView(fixture.repo()).open(commit).find(path).value();
        return {type, type == OSTREE_OBJECT_TYPE_DIR_META ? node.meta : node.checksum, path};
    }

    /// "PATH STATE" of each fault.
    std::vector<std::string> faults(bool contents = true, const ObjectWalk::Repair& repair = {}) {
        const RepositoryView repository(fixture.repo());
        ObjectWalk walk(fixture.ctx(), repository, contents, repair);
        whole = walk.add(commit);
        std::vector<std::string> found;
        for (const ObjectFault& fault : walk.faults()) {
            found.push_back(fmt::format("{} {}{}", fault.object.path, name_of(fault.state),
                                        fault.repaired ? ", repaired" : ""));
        }
        return found;
    }

    test::CommitFixture fixture;
    std::string commit;
    bool whole = false;
};

TEST_F(ObjectWalkTest, ReachesEachObjectOnce) {
    const RepositoryView repository(fixture.repo());
    ObjectWalk walk(fixture.ctx(), repository, true);
    EXPECT_TRUE(walk.add(commit));
    EXPECT_TRUE(walk.faults().empty());
    std::size_t objects = 0;
    for (const ObjectFile& file :
         list_object_files(ostree_repo_get_dfd(repository.handle()), repository.path())) {
        if (file.type != OSTREE_OBJECT_TYPE_COMMIT_META) {
            ++objects;
            EXPECT_TRUE(walk.reaches(file.type, file.checksum)) << file.name();
        }
    }
    EXPECT_EQ(walk.checked(), objects);
    EXPECT_TRUE(walk.add(commit));
    EXPECT_EQ(walk.checked(), objects);
}

TEST_F(ObjectWalkTest, TellsWhatIsDamaged) {
    const fs::path file = file_of(at("/usr/share/doc/file", OSTREE_OBJECT_TYPE_FILE));
    const std::string good = read_file(file);
    const auto with = [&](const std::string& content) {
        write_file(file, content);
        return faults();
    };
    using Faults = std::vector<std::string>;
    EXPECT_EQ(with(""), Faults{"/usr/share/doc/file truncated"});
    EXPECT_EQ(with(good.substr(0, 5)), Faults{"/usr/share/doc/file truncated"});
    EXPECT_EQ(with(good.substr(0, good.size() - 1)), Faults{"/usr/share/doc/file truncated"});
    std::string changed = good;
    changed.back() ^= 1;
    EXPECT_EQ(with(changed), Faults{"/usr/share/doc/file checksum"});
    EXPECT_TRUE(whole) << "the commit itself can be read";
    EXPECT_TRUE(faults(false).empty()) << "files are not looked at";
    fs::remove(file);
    EXPECT_EQ(faults(), Faults{"/usr/share/doc/file missing"});
    fs::create_directory(file);
    EXPECT_EQ(faults(), Faults{"/usr/share/doc/file malformed"});
}

TEST_F(ObjectWalkTest, GoesOnBelowWhatIsRepaired) {
    const fs::path tree = file_of(at("/usr/share/doc", OSTREE_OBJECT_TYPE_DIR_TREE));
    const fs::path file = file_of(at("/usr/share/doc/file", OSTREE_OBJECT_TYPE_FILE));
    const std::string good = read_file(tree);
    fs::remove(tree);
    fs::remove(file);
    using Faults = std::vector<std::string>;
    EXPECT_EQ(faults(), Faults{"/usr/share/doc missing"});
    const auto repair = [&](const TreeObject& object) {
        if (object.type == OSTREE_OBJECT_TYPE_DIR_TREE) {
            write_file(tree, good);
        }
        return true;
    };
    EXPECT_EQ(faults(true, repair),
              (Faults{"/usr/share/doc missing, repaired", "/usr/share/doc/file missing"}));
}

TEST_F(ObjectWalkTest, ACommitThatWasPulledInPartIsNotWhole) {
    EXPECT_TRUE(faults().empty());
    EXPECT_TRUE(whole);
    write_file(fixture.repo() / "state" / (commit + ".commitpartial"), "");
    EXPECT_TRUE(faults().empty());
    EXPECT_FALSE(whole);
}

TEST_F(ObjectWalkTest, VersionsAreThoseThatARefHadWithTheNewestFirst) {
    fixture.add_file("/usr/share/doc/two", "two\n");
    const std::string two = fixture.build("two").checksum;
    fixture.add_file("/usr/share/doc/three", "three\n");
    const std::string three = fixture.build("three").checksum;
    const RepositoryView repository(fixture.repo());
    const std::string ref = fixture.blueprint.ostree.ref;
    const auto versions = [&](const std::string& head) {
        std::vector<std::string> found;
        const std::vector<CommitView> commits = complete_commits(repository);
        for (const CommitView* version : versions_of_ref(ref, head, commits)) {
            found.push_back(version->info().checksum);
        }
        return found;
    };
    EXPECT_EQ(versions(three), (std::vector<std::string>{three, two, commit}));
    EXPECT_EQ(versions(two), (std::vector<std::string>{two, commit})) << "three was taken back";
    // It was not published.
    fs::remove(fixture.repo() / "objects" / object_file_name(OSTREE_OBJECT_TYPE_COMMIT, two));
    EXPECT_EQ(versions(three), (std::vector<std::string>{three, commit}));
    EXPECT_TRUE(versions(two).empty());
}

}  // namespace
}  // namespace edgegpu
