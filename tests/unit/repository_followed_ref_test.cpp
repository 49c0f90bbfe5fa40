#include "repository/followed_ref.hpp"

#include <string>

#include <gtest/gtest.h>

#include "support/commit_fixture.hpp"
#include "support/error.hpp"

namespace edgegpu {
namespace {

using test::CommitFixture;

TEST(FollowedRef, IsTheNameOfTheCommitOrTheOnlyRefThatHasIt) {
    CommitFixture fixture;
    const Commit first = fixture.build("one");
    fixture.blueprint.version = "1.2.4";
    const Commit second = fixture.build("two");
    const RepositoryView repository(fixture.repo());
    const auto followed = [&](const std::string& name) {
        return followed_ref(repository, repository.open(name));
    };
    EXPECT_EQ(followed(second.ref), second.ref);
    EXPECT_EQ(followed(second.ref + "^"), second.ref);
    EXPECT_EQ(followed(second.checksum), second.ref);
    EXPECT_EQ(followed(second.checksum.substr(0, 12)), second.ref);
    EXPECT_EQ(followed(first.checksum), "") << "no ref has it any more";

    const auto add = [&](const char* remote, const char* ref, const std::string& commit) {
        ASSERT_NE(ostree_repo_set_ref_immediate(repository.handle(), remote, ref, commit.c_str(),
                                                nullptr, nullptr),
                  FALSE);
    };
    add("origin", "mirrored", first.checksum);
    EXPECT_EQ(followed("origin:mirrored"), "mirrored");
    EXPECT_EQ(followed(first.checksum), "mirrored");
    add(nullptr, "other", first.checksum);
    EXPECT_EQ(followed("other"), "other");
    EXPECT_THROW((void)followed(first.checksum), Error);
}

}  // namespace
}  // namespace edgegpu
