#include <array>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commit/commit.hpp"
#include "commit/repository.hpp"
#include "commit/signing_request.hpp"
#include "support/commit_fixture.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/text/ref_path.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using test::CommitFixture;
using test::output_of;

std::string message_of_open(const CommitFixture& fixture, const std::string& ref = "a/b") {
    try {
        const Repo repo(fixture.ctx(), fixture.repo(), ref);
    } catch (const Error& caught) {
        return caught.message();
    }
    return "opened";
}

TEST(Repo, IsCreatedInArchiveMode) {
    CommitFixture fixture;
    EXPECT_EQ(message_of_open(fixture), "opened");
    EXPECT_EQ(output_of("ostree --repo=" + fixture.repo().string() + " config get core.mode"),
              "archive-z2\n");
    EXPECT_EQ(message_of_open(fixture), "opened");
}

TEST(Repo, AHalfCreatedOneIsFinished) {
    CommitFixture fixture;
    EXPECT_EQ(message_of_open(fixture), "opened");
    fs::remove_all(fixture.repo() / "objects");
    EXPECT_EQ(message_of_open(fixture), "opened");
    EXPECT_EQ(fixture.build().files, 6U);
}

TEST(Repo, OtherModesAreRefused) {
    CommitFixture fixture;
    (void)output_of("ostree --repo=" + fixture.repo().string() + " init --mode=bare-user");
    EXPECT_EQ(message_of_open(fixture),
              fixture.repo().string() + ": the repository's mode is bare-user, not archive");
}

TEST(Repo, AnotherDirectoryIsRefused) {
    CommitFixture fixture;
    fs::create_directory(fixture.repo());
    std::ofstream(fixture.repo() / "file") << "mine";
    EXPECT_EQ(message_of_open(fixture),
              fixture.repo().string() + ": not an ostree repository, and not empty");
}

TEST(Repo, InvalidRefsAreRefused) {
    CommitFixture fixture;
    for (const std::string& ref : {std::string(), std::string("../x"), std::string("a b"),
                                   std::string("/a"), std::string(64, 'a')}) {
        EXPECT_NE(message_of_open(fixture, ref).find("is not a valid ref"), std::string::npos)
            << ref;
    }
}

TEST(Repo, RefsNamedByTheirPathsAreRefused) {
    CommitFixture fixture;
    for (const std::string ref :
         {"refs/heads/a/b", "refs/remotes/edge/a/b", "refs/mirrors/c/a", "refs/a"}) {
        EXPECT_EQ(message_of_open(fixture, ref),
                  fmt::format("\"{}\" is not a valid ref: it is where a repository has one", ref));
    }
    EXPECT_EQ(message_of_open(fixture, "refs"), "opened");
    EXPECT_EQ(message_of_open(fixture, "heads/a"), "opened");
    EXPECT_EQ(hint_for_ref_path("refs/heads/a/b"), "name it without refs/heads/: a/b");
    EXPECT_EQ(hint_for_ref_path("refs/remotes/edge/a/b"),
              "name it without refs/remotes/edge/: a/b, or edge:a/b where one of a remote is read");
    EXPECT_EQ(hint_for_ref_path("refs/remotes/edge"),
              "name it without refs/, as ostree refs lists it");
    EXPECT_EQ(hint_for_ref_path("a/refs/heads/b"), "");
}

TEST(Repo, TwoBuildsOnOneRefExcludeEachOther) {
    CommitFixture fixture;
    const Repo first(fixture.ctx(), fixture.repo(), "a/b");
    EXPECT_EQ(message_of_open(fixture),
              fmt::format("{}: somebody else (pid {} of its machine) is writing ref a/b",
                          fixture.repo().string(), ::getpid()));
    EXPECT_EQ(message_of_open(fixture, "a/c"), "opened");
}

TEST(Repo, OnlyOwnLeftoversAreRemoved) {
    CommitFixture fixture;
    EXPECT_EQ(message_of_open(fixture), "opened");
    const fs::path tmp = fixture.repo() / "tmp";
    fs::create_directory(tmp / "edgegpu-a%2Fb@1");
    std::ofstream(tmp / "edgegpu-a%2Fb@1" / "x.filez") << "partial";
    fs::create_directory(tmp / "edgegpu-a%2Fc@1");
    EXPECT_EQ(message_of_open(fixture), "opened");
    EXPECT_FALSE(fs::exists(tmp / "edgegpu-a%2Fb@1"));
    EXPECT_TRUE(fs::exists(tmp / "edgegpu-a%2Fc@1"));
}

TEST(Repo, StagingOfARefWhoseNameBeginsLikeThisOneIsNotALeftover) {
    CommitFixture fixture;
    EXPECT_EQ(message_of_open(fixture, "lab/edge-gpu"), "opened");
    const fs::path tmp = fixture.repo() / "tmp";
    for (const char* ref : {"lab/edge-gpu-podman", "lab/edge-gpu-1", "lab/edge-gpu.1"}) {
        const Repo other(fixture.ctx(), fixture.repo(), ref);
        const Staging staging(other.impl());
        staging.put("ab/c.filez", "unpublished");
        EXPECT_EQ(message_of_open(fixture, "lab/edge-gpu"), "opened");
        staging.publish({"ab/c.filez"});
        EXPECT_EQ(read_file(fixture.repo() / "objects/ab/c.filez"), "unpublished") << ref;
    }
    // Nor does a killed build of this ref leave anything.
    for (const char* leftover : {"edgegpu-lab%2Fedge-gpu@17", "edgegpu-lab%2Fedge-gpu-17"}) {
        fs::create_directories(tmp / leftover / "ab");
        EXPECT_EQ(message_of_open(fixture, "lab/edge-gpu"), "opened");
        EXPECT_FALSE(fs::exists(tmp / leftover)) << leftover;
    }
}

TEST(Repo, OneThatCannotBeWrittenIsRefused) {
    CommitFixture fixture;
    EXPECT_EQ(message_of_open(fixture), "opened");
    fs::permissions(fixture.directory(), fs::perms(0755));
    const pid_t child = ::fork();
    if (child == 0) {
        // Capabilities stay with who was not id 0 before: they go by themselves.
        __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
        const std::array<__user_cap_data_struct, 2> none{};
        const bool changed = ::setgid(65534) == 0 && ::setuid(65534) == 0 &&
                             ::syscall(SYS_capset, &header, none.data()) == 0;
        const std::string expected =
            fixture.repo().string() + ": cannot write to the repository: Permission denied";
        ::_exit(changed && message_of_open(fixture) == expected ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(Repo, ANamedParentMustExist) {
    CommitFixture fixture;
    const Repo repo(fixture.ctx(), fixture.repo(), "a/b");
    Signer signer;
    signer.allow(signing_request(fixture.blueprint.ostree, fixture.blueprint.nvidia));
    EXPECT_FALSE(read_parent(fixture.ctx(), repo, fixture.blueprint.ostree, signer));
    for (const std::string& parent : {std::string("no/such"), std::string(64, 'a')}) {
        fixture.blueprint.ostree.parent = parent;
        EXPECT_THROW((void)read_parent(fixture.ctx(), repo, fixture.blueprint.ostree, signer),
                     Error)
            << parent;
    }
}

TEST(Repo, ASummaryThatAKilledBuildOwesIsMade) {
    CommitFixture fixture;
    (void)fixture.build();
    const fs::path marker = fixture.repo() / "edgegpu-locks/lab%2F12%2Fx86_64%2Fedge.summary";
    EXPECT_FALSE(fs::exists(marker));
    fs::remove(fixture.repo() / "summary");
    std::ofstream(marker) << "x\n";
    const Repo repo(fixture.ctx(), fixture.repo(), fixture.blueprint.ostree.ref);
    Signer signer;
    signer.allow(signing_request(fixture.blueprint.ostree, fixture.blueprint.nvidia));
    EXPECT_TRUE(read_parent(fixture.ctx(), repo, fixture.blueprint.ostree, signer));
    EXPECT_TRUE(fs::exists(fixture.repo() / "summary"));
    EXPECT_FALSE(fs::exists(marker));
}

}  // namespace
}  // namespace edgegpu
