#include "commit/commit.hpp"
#include "commit/repository.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commit/signing_request.hpp"
#include "support/commit_fixture.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/handles.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using test::CommitFixture;

TEST(Commit, AMovedRefIsAnError) {
    CommitFixture fixture;
    const Commit first = fixture.build();
    const Repo repo(fixture.ctx(), fixture.repo(), fixture.blueprint.ostree.ref);
    Signer signer;
    signer.allow(signing_request(fixture.blueprint.ostree, fixture.blueprint.nvidia));
    const auto parent = read_parent(fixture.ctx(), repo, fixture.blueprint.ostree, signer);
    (void)fixture.ostree("commit -b " + first.ref + " --tree=ref=" + first.ref + " -s other");
    const std::string moved = fixture.ostree("rev-parse " + first.ref);
    try {
        (void)write_commit(fixture.ctx(), fixture.blueprint, fixture.resolution, fixture.tree, repo,
                           parent, "x", signer);
        FAIL() << "the ref was overwritten";
    } catch (const Error& caught) {
        EXPECT_NE(caught.message().find("another process moved ref"), std::string::npos)
            << caught.message();
    }
    EXPECT_EQ(fixture.ostree("rev-parse " + first.ref), moved);
}

/// Locks that builds take for the summary, whatever they are called.
std::vector<Fd> hold_summary(const CommitFixture& fixture) {
    std::vector<Fd> held;
    for (const auto& item : fs::directory_iterator(fixture.repo() / "edgegpu-locks")) {
        if (item.path().string().find("lab") == std::string::npos) {
            held.emplace_back(::open(item.path().c_str(), O_RDWR | O_CLOEXEC));
            EXPECT_EQ(::flock(held.back().get(), LOCK_EX), 0);
        }
    }
    return held;
}

/// As `ostree prune` takes it.
bool lock_whole_repository(const Fd& file) {
    struct flock all {};
    all.l_type = F_WRLCK;
    all.l_whence = SEEK_SET;
    return ::fcntl(file.get(), F_OFD_SETLK, &all) == 0;
}

fs::path marker_of(const CommitFixture& fixture) {
    return fixture.repo() / "edgegpu-locks/lab%2F12%2Fx86_64%2Fedge.summary";
}

TEST(Commit, ARefMayBeCalledAsAFileOfTheRepositoryIs) {
    for (const char* ref : {"summary", "summary.lock", "config", "objects"}) {
        CommitFixture fixture;
        fixture.blueprint.ostree.ref = ref;
        const pid_t child = ::fork();
        if (child == 0) {
            constexpr unsigned hangs = 60;  // seconds
            ::alarm(hangs);
            const bool good = fixture.build().ref == ref && fixture.build("again").ref == ref;
            ::_exit(good ? 0 : 1);
        }
        int status = -1;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << ref << ": " << status;
        EXPECT_NE(fixture.ostree("summary -v").find(ref), std::string::npos);
    }
}

/// Handles SIGUSR1 as builds handle an interruption: without SA_RESTART.
class Signals {
public:
    Signals() {
        struct sigaction action {};
        action.sa_handler = [](int) {};
        EXPECT_EQ(::sigaction(SIGUSR1, &action, &before_), 0);
    }
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;
    ~Signals() { ::sigaction(SIGUSR1, &before_, nullptr); }

private:
    struct sigaction before_ {};
};

/// Work in a thread of its own.
class Beside {
public:
    explicit Beside(const std::function<void()>& work)
        : thread_([this, work] {
              try {
                  work();
              } catch (const Error& caught) {
                  problem_ = caught.render();
              }
              ended_ = true;
          }) {}
    Beside(const Beside&) = delete;
    Beside& operator=(const Beside&) = delete;
    ~Beside() { join(); }

    [[nodiscard]] bool ended() const { return ended_; }
    /// Until `what` is true, or it has ended.
    template <typename What>
    bool wait_until(const What& what) const {
        while (!what()) {
            if (ended_) {
                return what();
            }
            std::this_thread::yield();
        }
        return true;
    }
    void signal() {
        if (!ended_) {
            ::pthread_kill(thread_.native_handle(), SIGUSR1);
        }
    }
    /// The error with which it ended, or "".
    const std::string& join() {
        if (thread_.joinable()) {
            thread_.join();
        }
        return problem_;
    }

private:
    Signals signals_;
    std::string problem_;
    std::atomic<bool> ended_{false};
    std::thread thread_;
};

/// Work that waits gets signals; `release` ends what it waits for.
template <typename Waits, typename Release>
void expect_undisturbed(const std::function<void()>& work, const Waits& waits,
                        const Release& release) {
    constexpr unsigned signals = 20;
    Beside beside(work);
    EXPECT_TRUE(beside.wait_until(waits)) << beside.join();
    for (unsigned i = 0; i < signals; ++i) {
        beside.signal();
        std::this_thread::yield();
    }
    release();
    EXPECT_EQ(beside.join(), "");
}

bool waits(const CommitFixture& fixture) {
    return fixture.said().find("waiting for another build") != std::string::npos;
}

TEST(Commit, ASignalDoesNotEndTheWaitForAnotherBuild) {
    CommitFixture fixture;
    fs::create_directory(fixture.repo());
    Fd held(::open(fixture.repo().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_EQ(::flock(held.get(), LOCK_EX), 0);
    expect_undisturbed([&] { const Repo repo(fixture.ctx(), fixture.repo(), "a/b"); },
                       [&] { return waits(fixture); }, [&] { held.reset(); });
}

TEST(Commit, AnInterruptEndsTheWaitForAnotherBuild) {
    CommitFixture fixture;
    std::atomic<bool> interrupted{false};
    fixture.listen_to(interrupted);
    const auto ends = [&](const fs::path& locked, const std::function<void()>& work) {
        Fd held(::open(locked.c_str(), O_RDONLY | O_CLOEXEC));
        ASSERT_EQ(::flock(held.get(), LOCK_EX), 0);
        const std::string before = fixture.said();
        Beside beside(work);
        EXPECT_TRUE(beside.wait_until([&] { return fixture.said() != before && waits(fixture); }));
        interrupted = true;
        EXPECT_EQ(beside.join(), Error(ErrorKind::interrupted, "interrupted").render());
        interrupted = false;
    };
    fs::create_directory(fixture.repo());
    ends(fixture.repo(), [&] { const Repo repo(fixture.ctx(), fixture.repo(), "a/b"); });
    const Commit first = fixture.build();
    fixture.add_file("/usr/lib/new", "new\n");
    fixture.blueprint.version = "2";
    ends(fixture.ctx().cache / "objects-index", [&] { (void)fixture.build("other"); });
    EXPECT_EQ(fixture.ostree("rev-parse " + first.ref), first.checksum + "\n");
}

TEST(Commit, ASignalDoesNotEndTheWaitForTheSummary) {
    CommitFixture fixture;
    (void)fixture.build();
    std::vector<Fd> held = hold_summary(fixture);
    ASSERT_FALSE(held.empty());
    fixture.blueprint.version = "2";
    std::string checksum;
    expect_undisturbed([&] { checksum = fixture.build("other").checksum; },
                       [&] { return waits(fixture); }, [&] { held.clear(); });
    EXPECT_TRUE(fixture.has_in_summary(checksum));
    EXPECT_THAT(fixture.warnings(), testing::IsEmpty());
}

TEST(Commit, WhenTheRefIsSetAnInterruptIsAWarning) {
    CommitFixture fixture;
    const Commit first = fixture.build();
    std::vector<Fd> held = hold_summary(fixture);
    ASSERT_FALSE(held.empty());
    std::atomic<bool> interrupted{false};
    fixture.listen_to(interrupted);
    fixture.add_file("/usr/lib/new", "new\n");
    fixture.blueprint.version = "2";
    std::string checksum;
    Beside beside([&] { checksum = fixture.build("other").checksum; });
    const std::string before = first.checksum + "\n";
    EXPECT_TRUE(beside.wait_until(
        [&] { return read_file(fixture.repo() / "refs/heads" / first.ref) != before; }));
    interrupted = true;
    while (!beside.ended()) {
        beside.signal();
        std::this_thread::yield();
    }
    EXPECT_EQ(beside.join(), "");
    EXPECT_EQ(fixture.ostree("rev-parse " + first.ref), checksum + "\n");
    EXPECT_THAT(fixture.warnings(),
                testing::ElementsAre(testing::AllOf(
                    testing::HasSubstr("has commit " + checksum + ", but the summary is not"),
                    testing::HasSubstr("interrupted"),
                    testing::HasSubstr("`ostree summary --update --repo="))));
    EXPECT_TRUE(fs::exists(marker_of(fixture)));
    EXPECT_FALSE(fixture.has_in_summary(checksum));
    held.clear();
    interrupted = false;
    EXPECT_EQ(fixture.build("other").checksum, checksum);
    EXPECT_TRUE(fixture.has_in_summary(checksum));
}

TEST(Commit, ASummaryThatLosesItsSignatureIsAWarning) {
    CommitFixture fixture;
    (void)fixture.build();
    EXPECT_EQ(fixture.warnings().size(), 0U);
    write_file(fixture.repo() / "summary.sig", "of a key that the blueprint had");
    fixture.blueprint.version = "2";
    (void)fixture.build("other");
    EXPECT_FALSE(fs::exists(fixture.repo() / "summary.sig"));
    ASSERT_EQ(fixture.warnings().size(), 1U);
    EXPECT_THAT(fixture.warnings().front(),
                testing::HasSubstr("the summary has lost its signature"));
}

TEST(Commit, ALockedRepositoryIsAnErrorThatSaysWhatToDo) {
    CommitFixture fixture;
    const Commit first = fixture.build();
    (void)fixture.ostree("config set core.lock-timeout-secs 0");
    Fd whole(::open((fixture.repo() / ".lock").c_str(), O_RDWR | O_CLOEXEC));
    const auto problem_of = [](const std::function<void()>& work) {
        try {
            work();
        } catch (const Error& caught) {
            return caught.message() + '\n' + caught.hint();
        }
        return std::string("none");
    };
    const auto is_locked = testing::AllOf(testing::HasSubstr("cannot lock the repository"),
                                          testing::HasSubstr("lock-timeout-secs"));
    {
        const Repo repo(fixture.ctx(), fixture.repo(), first.ref);
        Signer signer;
        ASSERT_TRUE(lock_whole_repository(whole));
        EXPECT_THAT(problem_of([&] { update_summary(fixture.ctx(), repo.impl(), signer); }),
                    is_locked);
    }
    fixture.add_file("/usr/lib/new", "new\n");
    fixture.blueprint.version = "2";
    EXPECT_THAT(problem_of([&] { (void)fixture.build("other"); }), is_locked);
    EXPECT_EQ(fixture.ostree("rev-parse " + first.ref), first.checksum + "\n");
    whole.reset();
    EXPECT_EQ(fixture.build("other").parent, first.checksum);
}

TEST(Commit, WhenTheRefIsSetADamagedRefOfAnotherIsAWarning) {
    CommitFixture fixture;
    (void)fixture.build();
    const fs::path other = fixture.repo() / "refs/heads/other";
    std::ofstream(other) << std::string(64, 'a') << '\n';
    fixture.blueprint.version = "2";
    const Commit second = fixture.build("other");
    EXPECT_EQ(fixture.ostree("rev-parse " + second.ref), second.checksum + "\n");
    ASSERT_EQ(fixture.warnings().size(), 1U);
    EXPECT_THAT(fixture.warnings().front(), testing::HasSubstr("No such metadata object"));
    // An owed summary that cannot be written is no reason to fail, either.
    EXPECT_TRUE(fixture.build("other").unchanged);
    EXPECT_THAT(fixture.warnings().back(), testing::HasSubstr("since an earlier build"));
    fs::remove(other);
    EXPECT_TRUE(fixture.build("other").unchanged);
    EXPECT_TRUE(fixture.has_in_summary(second.checksum));
    EXPECT_FALSE(fs::exists(marker_of(fixture)));
}

TEST(Commit, WhenTheRefIsSetAnyExceptionIsAWarning) {
    CommitFixture fixture;
    const Commit first = fixture.build();
    const std::vector<Fd> held = hold_summary(fixture);
    ASSERT_FALSE(held.empty());
    // Somewhere in what makes the summary.
    fixture.on_output([](std::string_view text) {
        if (text.find("waiting for another build") != std::string_view::npos) {
            throw std::bad_alloc();
        }
    });
    fixture.blueprint.version = "2";
    const Commit second = fixture.build("other");
    EXPECT_EQ(fixture.ostree("rev-parse " + first.ref), second.checksum + "\n");
    EXPECT_THAT(fixture.warnings(), testing::ElementsAre(testing::HasSubstr(
                                        "but the summary is not up to date (out of memory)")));
}

TEST(Commit, PrunedObjectsAreMadeAgain) {
    CommitFixture fixture;
    const Commit first = fixture.build();
    const fs::path index = fixture.ctx().cache / "objects-index";
    ASSERT_TRUE(fs::exists(index));
    // All objects of the first are there when the second begins, and none when it is published.
    (void)fixture.ostree("refs --delete " + first.ref);
    fixture.blueprint.version = "2";
    Fd whole(::open((fixture.repo() / ".lock").c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_TRUE(lock_whole_repository(whole));
    Commit second;
    Beside beside([&] { second = fixture.build(); });
    EXPECT_TRUE(beside.wait_until([&] {
        return std::ranges::any_of(fs::directory_iterator(fixture.repo() / "tmp"),
                                   [](const fs::directory_entry& item) {
                                       return item.path().filename().string().starts_with(
                                           "edgegpu-lab%2F12%2Fx86_64%2Fedge@");
                                   });
    }));
    for (const auto& item : fs::recursive_directory_iterator(fixture.repo() / "objects")) {
        if (item.is_regular_file()) {
            fs::remove(item.path());
        }
    }
    whole.reset();
    EXPECT_EQ(beside.join(), "");
    EXPECT_EQ(fixture.ostree("rev-parse " + second.ref), second.checksum + "\n");
    fixture.expect_clean();
}

}  // namespace
}  // namespace edgegpu
