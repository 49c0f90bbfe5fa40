// The question which commit a ref has on a server, answered by servers of all kinds.
#include "fetch/remote_commit.hpp"

#include <atomic>
#include <filesystem>
#include <future>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commit/object.hpp"
#include "support/commit_fixture.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/web_server.hpp"

namespace edgegpu {
namespace {

using test::CommitFixture;
using test::OddServer;
using testing::HasSubstr;
using testing::StartsWith;

class RemoteCommitTest : public testing::Test {
protected:
    RemoteCommitTest() { commit_ = fixture_.build(); }

    /// "CHECKSUM TIME", "nothing", or the error.
    [[nodiscard]] std::string answer(const std::string& url) {
        fixture_.blueprint.ostree.url = url;
        make_directories(fixture_.ctx().work());
        RemoteQuestion question(fixture_.ctx(), fixture_.blueprint.ostree);
        try {
            const std::optional<RemoteCommit> found = question.answer();
            return found ? fmt::format("{} {}", found->checksum, found->time) : "nothing";
        } catch (const Error& failure) {
            EXPECT_EQ(failure.kind(), ErrorKind::fetch);
            return "error: " + failure.message();
        }
    }

    // NOLINTBEGIN(*-non-private-*)
    CommitFixture fixture_;
    Commit commit_;
    // NOLINTEND(*-non-private-*)
};

TEST_F(RemoteCommitTest, IsThatOfTheRefOnTheServer) {
    const OddServer server(fixture_.repo());
    const std::string known = fmt::format("{} {}", commit_.checksum, 1700000000);
    EXPECT_EQ(answer(server.url() + "/plain"), known);
    EXPECT_EQ(answer(server.url() + "/plain/"), known);
    fixture_.blueprint.ostree.ref = "no/such/ref";
    EXPECT_EQ(answer(server.url() + "/plain"), "nothing");
}

TEST_F(RemoteCommitTest, WhatIsNoAnswerIsAnError) {
    const OddServer server(fixture_.repo());
    for (const char* kind : {"html", "cut", "endless", "drip", "later", "loop", "empty", "auth"}) {
        EXPECT_THAT(answer(fmt::format("{}/{}", server.url(), kind)), StartsWith("error: "))
            << kind;
    }
    EXPECT_THAT(answer("http://127.0.0.1:1/repo"), StartsWith("error: "));
}

TEST_F(RemoteCommitTest, AnInterruptEndsTheWait) {
    const OddServer server(fixture_.repo());
    std::atomic<bool> interrupted{false};
    fixture_.listen_to(interrupted);
    fixture_.blueprint.ostree.url = server.url() + "/silent";
    make_directories(fixture_.ctx().work());
    RemoteQuestion question(fixture_.ctx(), fixture_.blueprint.ostree);
    auto interrupting = std::async(std::launch::async, [&] {
        while (server.count("SILENT") == 0) {
            std::this_thread::yield();
        }
        interrupted = true;
    });
    try {
        (void)question.answer();
        ADD_FAILURE() << "there was an answer";
    } catch (const Error& failure) {
        EXPECT_EQ(failure.kind(), ErrorKind::interrupted) << failure.message();
    }
    interrupting.get();
}

TEST_F(RemoteCommitTest, TheCommitHasItsChecksum) {
    const OddServer server(fixture_.repo());
    const auto object = fixture_.repo() / "objects" / object_path(commit_.checksum, "commit");
    write_file(object, read_file(object) + " ");
    EXPECT_THAT(answer(server.url() + "/plain"), HasSubstr("is damaged there"));
    std::filesystem::remove(object);
    EXPECT_THAT(answer(server.url() + "/plain"), HasSubstr("is missing there"));
    write_file(fixture_.repo() / "refs/heads" / commit_.ref, "../../etc/passwd\n");
    EXPECT_THAT(answer(server.url() + "/plain"), HasSubstr("is not a checksum there"));
}

TEST_F(RemoteCommitTest, OnlyServersAreAsked) {
    EXPECT_EQ(answer("file://" + fixture_.repo().string()), "nothing");
    EXPECT_EQ(answer("mirrorlist=http://127.0.0.1:1/list"), "nothing");
    EXPECT_EQ(answer(""), "nothing");
}

}  // namespace
}  // namespace edgegpu
