#include "commit/commit.hpp"

#include <gtest/gtest.h>

#include "commit/signing_request.hpp"
#include "report/diff.hpp"
#include "report/upgrade.hpp"
#include "support/commit_fixture.hpp"
#include "support/error.hpp"

namespace edgegpu {
namespace {

class UpgradeLimit : public testing::Test {
protected:
    Commit build(const std::string& inputs, std::optional<std::uint64_t> limit) {
        const Repo opened(fixture_.ctx(), fixture_.repo(), fixture_.blueprint.ostree.ref);
        Signer signer;
        signer.allow(signing_request(fixture_.blueprint.ostree, fixture_.blueprint.nvidia));
        const auto parent = read_parent(fixture_.ctx(), opened, fixture_.blueprint.ostree, signer);
        return write_commit(fixture_.ctx(), fixture_.blueprint, fixture_.resolution, fixture_.tree,
                            opened, parent, inputs, signer, limit);
    }

    /// The error of a build with this limit.
    Error failure(std::uint64_t limit) {
        try {
            (void)build("two", limit);
        } catch (const Error& caught) {
            return caught;
        }
        return Error("no error");
    }

    void change() {
        fixture_.add_file("/usr/lib/grows", std::string(5000, 'g') + "grown");
        fixture_.add_file("/usr/lib/new", "new and small");
    }

    [[nodiscard]] std::uint64_t upgrade_bytes() const {
        const RepositoryView repository(fixture_.repo());
        const std::string& ref = fixture_.blueprint.ostree.ref;
        return upgrade_cost(
                   diff_commits(fixture_.ctx(), repository.open(ref + "^"), repository.open(ref)))
            .download_bytes;
    }

    test::CommitFixture fixture_;
};

TEST_F(UpgradeLimit, TheRefStaysAndTheNextBuildSucceeds) {
    fixture_.add_file("/usr/lib/grows", std::string(4000, 'g'));
    const Commit first = build("one", 0);
    EXPECT_NE(fixture_.said().find("--max-upgrade-bytes has nothing to compare with"),
              std::string::npos)
        << fixture_.said();
    change();
    const Error caught = failure(10);
    EXPECT_EQ(caught.kind(), ErrorKind::failure);
    EXPECT_NE(caught.message().find("2 files) for the new commit, more than the 10 B (10 bytes)"),
              std::string::npos)
        << caught.message();
    ASSERT_EQ(caught.traces().size(), 2U);
    EXPECT_NE(caught.traces()[0].find("/usr/lib/grows ("), std::string::npos) << caught.traces()[0];
    EXPECT_NE(caught.traces()[0].find(" in the parent)"), std::string::npos) << caught.traces()[0];
    EXPECT_NE(caught.traces()[1].find("/usr/lib/new (new)"), std::string::npos);
    EXPECT_NE(caught.hint().find("edgegpu diff " + first.ref), std::string::npos) << caught.hint();
    EXPECT_EQ(fixture_.ostree("rev-parse " + first.ref), first.checksum + "\n");
    EXPECT_TRUE(std::filesystem::is_empty(fixture_.repo() / "tmp/cache") ||
                !std::filesystem::exists(fixture_.repo() / "tmp/cache"));
    fixture_.expect_clean();
    const Commit second = build("two", std::nullopt);
    EXPECT_EQ(second.parent, first.checksum);
    EXPECT_NE(caught.message().find(std::to_string(upgrade_bytes()) + " bytes"), std::string::npos)
        << caught.message() << upgrade_bytes();
    fixture_.expect_clean();
    // It keeps its commit, however large that was.
    EXPECT_TRUE(build("two", 0).unchanged);
}

TEST_F(UpgradeLimit, TheLimitItselfIsAllowed) {
    const Commit first = build("one", std::nullopt);
    change();
    const Commit second = build("two", std::nullopt);
    const std::uint64_t bytes = upgrade_bytes();
    // The objects are in the repository, but a device with the parent lacks them all the same.
    (void)fixture_.ostree("refs --delete " + first.ref);
    (void)fixture_.ostree("refs --create=" + first.ref + " " + first.checksum);
    EXPECT_NE(failure(bytes - 1).message().find(std::to_string(bytes) + " bytes"),
              std::string::npos);
    EXPECT_EQ(build("two", bytes).checksum, second.checksum);
}

TEST_F(UpgradeLimit, AParentWithoutItsObjectsIsAnError) {
    fixture_.add_file("/usr/lib/gone", "gone");
    const Commit first = build("one", std::nullopt);
    change();
    const std::string dirtree = fixture_.ostree("ls -d -C " + first.ref + " /usr/lib");
    for (const auto& item :
         std::filesystem::recursive_directory_iterator(fixture_.repo() / "objects")) {
        const std::string name =
            item.path().parent_path().filename().string() + item.path().stem().string();
        if (item.path().extension() == ".dirtree" && dirtree.find(name) != std::string::npos) {
            std::filesystem::remove(item.path());
            break;
        }
    }
    const Error caught = failure(1 << 20);
    ASSERT_FALSE(caught.traces().empty()) << caught.message();
    EXPECT_NE(caught.traces().back().find("--max-upgrade-bytes"), std::string::npos);
}

}  // namespace
}  // namespace edgegpu
