#include "commit/commit.hpp"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commit/signing_request.hpp"
#include "repository/commit_view.hpp"
#include "support/commit_fixture.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using test::CommitFixture;
using test::output_of;

std::int64_t time_of(const CommitFixture& fixture, const std::string& commit) {
    return RepositoryView(fixture.repo()).open(commit).info().time;
}

TEST(Commit, IsNeverOlderThanItsParent) {
    CommitFixture fixture;
    fixture.set_time(1700000000);
    const Commit first = fixture.build("one");
    EXPECT_EQ(time_of(fixture, first.checksum), 1700000000);
    const std::string client = (fixture.directory() / "client").string();
    const std::string pull =
        "ostree --repo=" + client + " pull --timestamp-check edge " + first.ref;
    int status = -1;
    std::string pulled = output_of(
        "ostree --repo=" + client + " init --mode=bare-user && ostree --repo=" + client +
            " remote add --no-gpg-verify edge file://" + fixture.repo().string() + " && " + pull,
        &status);
    EXPECT_EQ(status, 0) << pulled;
    // The newest package is gone.
    fixture.set_time(1600000000);
    fixture.tree.entries.erase("/usr/bin/tool");
    fixture.blueprint.version = "2";
    const Commit second = fixture.build("two");
    EXPECT_EQ(second.parent, first.checksum);
    EXPECT_EQ(time_of(fixture, second.checksum), 1700000001);
    pulled = output_of(pull, &status);
    EXPECT_EQ(status, 0) << pulled;
    // As new is not newer.
    fixture.set_time(1700000001);
    fixture.blueprint.version = "3";
    EXPECT_EQ(time_of(fixture, fixture.build("three").checksum), 1700000002);
    fixture.set_time(1800000000);
    fixture.blueprint.version = "4";
    EXPECT_EQ(time_of(fixture, fixture.build("four").checksum), 1800000000);
}

TEST(Commit, IsNeverOlderThanWhatTheRefHas) {
    CommitFixture fixture;
    fixture.set_time(1600000000);
    const Commit first = fixture.build("one");
    fixture.set_time(1700000000);
    fixture.blueprint.version = "2";
    const Commit second = fixture.build("two");
    // Back to the first, for devices that have the second.
    fixture.set_time(1600000000);
    fixture.blueprint.ostree.parent = first.checksum;
    fixture.blueprint.version = "3";
    const Commit third = fixture.build("three");
    EXPECT_EQ(third.parent, first.checksum);
    EXPECT_GT(time_of(fixture, third.checksum), time_of(fixture, second.checksum));
    // The same again is the same.
    EXPECT_EQ(fixture.build("three").checksum, third.checksum);
    EXPECT_EQ(fixture.build("other").checksum, third.checksum);
}

TEST(Commit, ItsTimeIsAFunctionOfInputsAndParent) {
    CommitFixture fixture;
    const Commit first = fixture.build("one");
    fs::copy(fixture.repo(), fixture.directory() / "kept", fs::copy_options::recursive);
    fixture.blueprint.version = "2";
    const Commit second = fixture.build("two");
    fs::remove_all(fixture.repo());
    fs::rename(fixture.directory() / "kept", fixture.repo());
    fixture.set_time(1500000000);
    EXPECT_EQ(fixture.build("two").checksum, second.checksum);
}

TEST(Commit, ThereIsATimeAfterEachParent) {
    CommitFixture fixture;
    fixture.set_time(253402300799);
    (void)fixture.build("one");
    fixture.blueprint.version = "2";
    try {
        (void)fixture.build("two");
        FAIL() << "a commit of the year 10000";
    } catch (const Error& caught) {
        EXPECT_THAT(caught.message(), testing::HasSubstr("there is no time after it"));
    }
}

TEST(Commit, TheSameImageKeepsItsCommit) {
    CommitFixture fixture;
    fixture.resolution.repositories = {{"baseos", "abc", 1700000001}};
    const Commit first = fixture.build("of one edgegpu");
    EXPECT_FALSE(first.unchanged);
    fixture.resolution.repositories = {{"baseos", "def", 1700000002}};
    fixture.resolution.advisories.emplace_back();
    const Commit second = fixture.build("of another edgegpu");
    EXPECT_TRUE(second.unchanged);
    EXPECT_EQ(second.checksum, first.checksum);
    EXPECT_EQ(second.version, first.version);
    EXPECT_EQ(fixture.ostree("rev-parse " + first.ref), first.checksum + "\n");
    EXPECT_THAT(fixture.warnings(), testing::IsEmpty());
    const Repo repo(fixture.ctx(), fixture.repo(), first.ref);
    Signer signer;
    signer.allow(signing_request(fixture.blueprint.ostree, fixture.blueprint.nvidia));
    const auto parent = read_parent(fixture.ctx(), repo, fixture.blueprint.ostree, signer);
    for (const char* inputs : {"of one edgegpu", "of another edgegpu"}) {
        const auto found =
            find_unchanged(fixture.ctx(), fixture.blueprint, repo, parent, inputs, signer);
        ASSERT_TRUE(found) << inputs;
        EXPECT_EQ(found->checksum, first.checksum);
    }
    EXPECT_FALSE(find_unchanged(fixture.ctx(), fixture.blueprint, repo, parent, "a third", signer));
}

TEST(Commit, WhateverDevicesSeeMakesANewCommit) {
    CommitFixture fixture;
    std::string last = fixture.build("0").checksum;
    unsigned number = 0;
    const auto changes = [&](const char* what) {
        const Commit commit = fixture.build(std::to_string(++number));
        EXPECT_NE(commit.checksum, last) << what;
        EXPECT_EQ(commit.parent, last) << what;
        last = commit.checksum;
    };
    fixture.blueprint.version = "2";
    changes("version");
    fixture.tree.kernel_arguments = {"quiet"};
    changes("kernel arguments");
    fixture.tree.packages = {{"zlib", 0, "1.2", "3", "x86_64"}};
    changes("packages");
    fixture.resolution.driver_version = "535.261.03";
    changes("driver");
    fixture.tree.entries.at("/usr/lib").mode = 0700;
    changes("mode");
    fixture.tree.entries.at("/").mode = 0700;
    changes("mode of the root");
    fixture.add_file("/usr/lib/new", "new\n");
    changes("content");
}

TEST(Commit, ANamedParentIsNotTakenForTheRef) {
    CommitFixture fixture;
    const Commit other = fixture.build("inputs");
    fixture.blueprint.ostree.parent = other.ref;
    fixture.blueprint.ostree.ref = "lab/new";
    const Commit made = fixture.build("inputs");
    EXPECT_FALSE(made.unchanged) << "the ref did not exist";
    EXPECT_EQ(fixture.ostree("rev-parse lab/new"), made.checksum + "\n");
    EXPECT_TRUE(fixture.build("inputs").unchanged);
}

TEST(Commit, OneThatWasPulledBecomesTheRefs) {
    CommitFixture fixture;
    const Commit first = fixture.build("inputs");
    fs::rename(fixture.repo(), fixture.directory() / "server");
    (void)fixture.ostree("init --mode=archive");
    (void)fixture.ostree("remote add --no-gpg-verify edge file://" +
                         (fixture.directory() / "server").string());
    (void)fixture.ostree("pull edge " + first.ref);
    EXPECT_EQ(fixture.build("inputs").checksum, first.checksum);
    EXPECT_EQ(read_file(fixture.repo() / "refs/heads" / first.ref), first.checksum + "\n");
    EXPECT_TRUE(fixture.has_in_summary(first.checksum));
    fixture.blueprint.version = "2";
    EXPECT_EQ(fixture.build("more").parent, first.checksum);
}

TEST(Commit, AVersionStandsForOneContent) {
    CommitFixture fixture;
    const Commit first = fixture.build("one");
    fixture.add_file("/usr/lib/new", "new\n");
    (void)fixture.build("two");
    EXPECT_THAT(fixture.warnings(),
                testing::ElementsAre(testing::AllOf(
                    testing::HasSubstr("the ref's last commit (" + first.checksum + ")"),
                    testing::HasSubstr("raise `version`"))));
    fixture.add_file("/usr/lib/new", "newer\n");
    fixture.blueprint.version = "1.2.4";
    const Commit third = fixture.build("three");
    EXPECT_EQ(fixture.warnings().size(), 1U);
    // Devices of the parent get the commit by a rebase.
    fixture.blueprint.ostree.parent = third.ref;
    fixture.blueprint.ostree.ref = "lab/same";
    (void)fixture.build("three");
    EXPECT_EQ(fixture.warnings().size(), 1U) << "the same files";
    fixture.add_file("/usr/lib/new", "newest\n");
    fixture.blueprint.ostree.ref = "lab/other";
    (void)fixture.build("four");
    ASSERT_EQ(fixture.warnings().size(), 2U);
    EXPECT_THAT(fixture.warnings().back(),
                testing::AllOf(testing::HasSubstr("the parent (" + third.checksum + ")"),
                               testing::HasSubstr("raise `version`")));
}

}  // namespace
}  // namespace edgegpu
