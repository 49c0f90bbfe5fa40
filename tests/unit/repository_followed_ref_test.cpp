#include "repository/followed_ref.hpp"

#include <string>

#include <gtest/gtest.h>

#include "support/commit_fixture.hpp"
#include "support/error.hpp"
#include "support/text/text.hpp"

namespace edgegpu {
namespace {

using test::CommitFixture;

class FollowedRef : public testing::Test {
protected:
    FollowedRef() {
        first_ = fixture_.build("one");
        fixture_.blueprint.version = "1.2.4";
        second_ = fixture_.build("two");
    }

    [[nodiscard]] std::string followed(const std::string& name) const {
        const RepositoryView repository(fixture_.repo());
        return followed_ref(repository, repository.open(name));
    }
    void add(const char* remote, const char* ref, const std::string& commit) const {
        const RepositoryView repository(fixture_.repo());
        ASSERT_NE(ostree_repo_set_ref_immediate(repository.handle(), remote, ref, commit.c_str(),
                                                nullptr, nullptr),
                  FALSE);
    }
    /// A commit with the content of the first one that is bound to no ref.
    [[nodiscard]] std::string unbound() const {
        return trim_end_of(
            test::output_of("ostree --repo=" + fixture_.repo().string() +
                            " commit --no-bindings --orphan --tree=ref=" + first_.checksum));
    }
    static std::string trim_end_of(std::string text) {
        text.resize(trim_end(text).size());
        return text;
    }

    // NOLINTBEGIN(*-non-private-*)
    CommitFixture fixture_;
    Commit first_;
    Commit second_;
    // NOLINTEND(*-non-private-*)
};

TEST_F(FollowedRef, IsTheNameOfTheCommitOrTheOnlyRefThatHasIt) {
    EXPECT_EQ(followed(second_.ref), second_.ref);
    EXPECT_EQ(followed(second_.ref + "^"), second_.ref);
    EXPECT_EQ(followed(second_.checksum), second_.ref);
    EXPECT_EQ(followed(second_.checksum.substr(0, 12)), second_.ref);
    const std::string other = unbound();
    EXPECT_EQ(followed(other), "") << "no ref has it";
    add("origin", "mirrored", other);
    EXPECT_EQ(followed("origin:mirrored"), "mirrored");
    EXPECT_EQ(followed(other), "mirrored");
    add("elsewhere", "mirrored", other);
    EXPECT_EQ(followed(other), "mirrored");
    add(nullptr, "other", other);
    EXPECT_EQ(followed("other"), "other");
    EXPECT_THROW((void)followed(other), Error);
}

TEST_F(FollowedRef, IsTheOneThatHadTheCommit) {
    EXPECT_EQ(followed(first_.checksum), first_.ref);
    EXPECT_EQ(followed(first_.checksum.substr(0, 12)), first_.ref);
    add(nullptr, "branch", second_.checksum);
    EXPECT_EQ(followed(first_.checksum), first_.ref) << "it was made for this one";
    EXPECT_EQ(followed("branch^"), "branch");
}

TEST_F(FollowedRef, IsTheOneThatTheCommitWasMadeForIfNoneHasHadIt) {
    (void)test::output_of("ostree refs --delete --repo=" + fixture_.repo().string() + " " +
                          first_.ref);
    EXPECT_EQ(followed(first_.checksum), first_.ref);
}

}  // namespace
}  // namespace edgegpu
