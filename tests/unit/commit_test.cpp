#include "commit/commit.hpp"
#include "commit/signing_request.hpp"

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
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "repository/commit_view.hpp"
#include "support/commit_fixture.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/handles.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using test::CommitFixture;
using test::output_of;

std::string ostree(const CommitFixture& fixture, const std::string& arguments,
                   int* status = nullptr) {
    return output_of("ostree --repo=" + fixture.repo().string() + " " + arguments, status);
}

void expect_clean(const CommitFixture& fixture) {
    int status = -1;
    const std::string output = ostree(fixture, "fsck", &status);
    EXPECT_EQ(status, 0) << output;
}

TEST(Commit, OstreeReadsBackWhatWasWritten) {
    CommitFixture fixture;
    fixture.add_file("/usr/lib/large", std::string(100000, 'z'), 0600);
    Entry& tool = fixture.tree.entries.at("/usr/bin/tool");
    tool.label = "system_u:object_r:bin_t:s0";
    tool.mode = 04755;
    tool.gid = 99;
    fixture.add_directory("/usr/lib/d");
    fixture.add_file("/usr/lib/d.x", "sorts between d and d/\n");
    fixture.add_file("/usr/lib/d/y", "y\n");
    const Commit commit = fixture.build();
    expect_clean(fixture);
    EXPECT_EQ(ostree(fixture, "rev-parse " + commit.ref), commit.checksum + "\n");
    EXPECT_EQ(ostree(fixture, "cat " + commit.ref + " /usr/bin/tool"), "#!/bin/sh\necho tool\n");
    EXPECT_EQ(ostree(fixture, "cat " + commit.ref + " /usr/lib/large"), std::string(100000, 'z'));
    EXPECT_EQ(ostree(fixture, "cat " + commit.ref + " /usr/lib/empty"), "");
    const std::string list = ostree(fixture, "ls -R -X " + commit.ref);
    EXPECT_NE(list.find("-04755 0 99     20 { [(b'security.selinux', "
                        "b'system_u:object_r:bin_t:s0')] } /usr/bin/tool"),
              std::string::npos)
        << list;
    EXPECT_NE(list.find("/bin -> usr/bin"), std::string::npos) << list;
    const std::string out = (fixture.directory() / "out").string();
    int status = -1;
    const std::string output = ostree(fixture, "checkout -U " + commit.ref + " " + out, &status);
    EXPECT_EQ(status, 0) << output;
    EXPECT_EQ(read_file(fs::path(out) / "usr/lib/d/y"), "y\n");
    EXPECT_TRUE(fs::is_symlink(fs::path(out) / "bin"));
}

TEST(Commit, EqualsOstreesOwnTreeForTheSameFiles) {
    CommitFixture fixture;
    const Commit commit = fixture.build();
    const std::string out = (fixture.directory() / "out").string();
    (void)ostree(fixture, "checkout -U " + commit.ref + " " + out);
    (void)ostree(fixture,
                 "commit -b theirs --owner-uid=0 --owner-gid=0 --no-xattrs --tree=dir=" + out);
    // The first two words of a tree's listing are its checksums.
    EXPECT_EQ(ostree(fixture, "ls -C -R " + commit.ref), ostree(fixture, "ls -C -R theirs"));
}

TEST(Commit, MetadataThatClientsRead) {
    CommitFixture fixture;
    fixture.tree.packages = {{"zlib", 0, "1.2", "3", "x86_64"},
                             {"nvidia-driver", 3, "535.261.03", "1.el9", "x86_64"}};
    fixture.resolution.repositories = {{"baseos", "abc", 1700000001}};
    fixture.resolution.driver_version = "535.261.03";
    fixture.tree.kernel_arguments = {"quiet", "nosmt"};
    const Commit commit = fixture.build("digest-of-inputs");
    const auto key = [&](const std::string& name) {
        return ostree(fixture, "show --print-metadata-key=" + name + " " + commit.ref);
    };
    EXPECT_EQ(key("version"), "'1.2.3'\n");
    EXPECT_EQ(key("ostree.bootable"), "true\n");
    EXPECT_EQ(key("ostree.linux"), "'6.1.0-50-amd64'\n");
    EXPECT_EQ(key("ostree.ref-binding"), "['lab/12/x86_64/edge']\n");
    EXPECT_EQ(key("rpmostree.inputhash"), "'digest-of-inputs'\n");
    EXPECT_EQ(key("edgegpu.inputs-digest"), "'digest-of-inputs'\n");
    EXPECT_EQ(key("edgegpu.nvidia-driver"), "'535.261.03'\n");
    EXPECT_EQ(key("edgegpu.kargs"), "['quiet', 'nosmt']\n");
    EXPECT_EQ(key("rpmostree.rpmdb.pkglist"),
              "[('nvidia-driver', '3', '535.261.03', '1.el9', 'x86_64'), "
              "('zlib', '0', '1.2', '3', 'x86_64')]\n");
    // Stored big-endian, as rpm-ostree does; ostree shows it in the reader's order.
    EXPECT_EQ(key("rpmostree.rpmmd-repos"),
              "[{'id': <'baseos'>, 'timestamp': <uint64 1700000001>}]\n");
    const std::string shown = ostree(fixture, "show " + commit.ref);
    EXPECT_NE(shown.find("Date:  2023-11-14 22:13:20 +0000"), std::string::npos) << shown;
    const std::string summary = ostree(fixture, "summary -v");
    EXPECT_NE(summary.find(commit.checksum), std::string::npos) << summary;
}

TEST(Commit, DigestsOfRepositoriesDoNotChangeIt) {
    CommitFixture first;
    CommitFixture second;
    first.resolution.repositories = {{"baseos", "abc", 1}};
    second.resolution.repositories = {{"baseos", "def", 1}};
    EXPECT_EQ(first.build().checksum, second.build().checksum);
}

TEST(Commit, UmaskDoesNotMatterAndTheWebServerCanRead) {
    const mode_t before = ::umask(0077);
    CommitFixture strict;
    const Commit commit = strict.build();
    ::umask(before);
    CommitFixture usual;
    EXPECT_EQ(usual.build().checksum, commit.checksum);
    for (const auto& item : fs::recursive_directory_iterator(strict.repo())) {
        const std::string path = item.path().string();
        if (path.find("/tmp") != std::string::npos ||
            path.find("edgegpu-locks") != std::string::npos || item.path().filename() == ".lock") {
            continue;
        }
        struct stat status {};
        ASSERT_EQ(::lstat(path.c_str(), &status), 0);
        EXPECT_EQ(status.st_mode & 0044U, 0044U) << path;
    }
}

TEST(Commit, SecondBuildHasTheFirstAsParentAndWritesOnlyWhatChanged) {
    CommitFixture fixture;
    const Commit first = fixture.build();
    EXPECT_TRUE(first.parent.empty());
    EXPECT_GT(first.new_objects, 8U);
    fixture.add_file("/usr/lib/new", "new\n");
    fixture.blueprint.version = "1.2.4";
    const Commit second = fixture.build("other");
    EXPECT_EQ(second.parent, first.checksum);
    // the file, three dirtrees (/, /usr, /usr/lib), the commit
    EXPECT_EQ(second.new_objects, 5U);
    EXPECT_EQ(second.files, first.files + 1);
    expect_clean(fixture);
    const Repo repo(fixture.ctx(), fixture.repo(), fixture.blueprint.ostree.ref);
    Signer signer;
    signer.allow(signing_request(fixture.blueprint.ostree, fixture.blueprint.nvidia));
    const auto parent = read_parent(fixture.ctx(), repo, fixture.blueprint.ostree, signer);
    ASSERT_TRUE(parent);
    EXPECT_EQ(parent->checksum, second.checksum);
    EXPECT_EQ(parent->inputs_digest, "other");
    EXPECT_EQ(parent->time, fixture.ctx().source_date_epoch + 1);
    EXPECT_EQ(parent->accounts.passwd,
              "root:x:0:0:root:/root:/bin/bash\ncore:x:1000:1000::/home/core:/bin/bash\n");
    EXPECT_EQ(parent->accounts.group, "root:x:0:\n");
}

TEST(Commit, ContentIsNotReadAgain) {
    CommitFixture fixture;
    fixture.add_file("/usr/lib/large", std::string(100000, 'q'));
    const Commit first = fixture.build();
    fs::remove_all(fixture.directory() / "content");
    fixture.blueprint.version = "2";
    const Commit second = fixture.build();
    EXPECT_EQ(second.parent, first.checksum);
    EXPECT_EQ(second.new_objects, 1U);
}

TEST(Commit, DamagedIndexLinesAreIgnored) {
    CommitFixture fixture;
    const Commit first = fixture.build();
    const fs::path index = fixture.ctx().cache / "objects-index";
    std::string text = read_file(index);
    const std::string good = text;
    for (std::size_t i = 100; i < text.size(); i += 170) {
        text[i] = text[i] == '0' ? '1' : '0';
    }
    write_file(index, text.substr(0, text.size() - 5));
    fs::remove_all(fixture.repo());
    EXPECT_EQ(fixture.build().checksum, first.checksum);
    expect_clean(fixture);
}

TEST(Commit, AMovedRefIsAnError) {
    CommitFixture fixture;
    const Commit first = fixture.build();
    const Repo repo(fixture.ctx(), fixture.repo(), fixture.blueprint.ostree.ref);
    Signer signer;
    signer.allow(signing_request(fixture.blueprint.ostree, fixture.blueprint.nvidia));
    const auto parent = read_parent(fixture.ctx(), repo, fixture.blueprint.ostree, signer);
    (void)ostree(fixture, "commit -b " + first.ref + " --tree=ref=" + first.ref + " -s other");
    const std::string moved = ostree(fixture, "rev-parse " + first.ref);
    try {
        (void)write_commit(fixture.ctx(), fixture.blueprint, fixture.resolution, fixture.tree, repo,
                           parent, "x", signer);
        FAIL() << "the ref was overwritten";
    } catch (const Error& caught) {
        EXPECT_NE(caught.message().find("another process moved ref"), std::string::npos)
            << caught.message();
    }
    EXPECT_EQ(ostree(fixture, "rev-parse " + first.ref), moved);
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

bool has_summary_of(const CommitFixture& fixture, const std::string& checksum) {
    return ostree(fixture, "summary -v").find(checksum) != std::string::npos;
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
        EXPECT_NE(ostree(fixture, "summary -v").find(ref), std::string::npos);
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
    EXPECT_EQ(ostree(fixture, "rev-parse " + first.ref), first.checksum + "\n");
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
    EXPECT_TRUE(has_summary_of(fixture, checksum));
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
    EXPECT_EQ(ostree(fixture, "rev-parse " + first.ref), checksum + "\n");
    EXPECT_THAT(fixture.warnings(),
                testing::ElementsAre(testing::AllOf(
                    testing::HasSubstr("has commit " + checksum + ", but the summary is not"),
                    testing::HasSubstr("interrupted"),
                    testing::HasSubstr("`ostree summary --update --repo="))));
    EXPECT_TRUE(fs::exists(marker_of(fixture)));
    EXPECT_FALSE(has_summary_of(fixture, checksum));
    held.clear();
    interrupted = false;
    EXPECT_EQ(fixture.build("other").checksum, checksum);
    EXPECT_TRUE(has_summary_of(fixture, checksum));
}

TEST(Commit, WhenTheRefIsSetALockedRepositoryIsAWarning) {
    CommitFixture fixture;
    const Commit first = fixture.build();
    (void)ostree(fixture, "config set core.lock-timeout-secs 0");
    std::vector<Fd> held = hold_summary(fixture);
    fixture.add_file("/usr/lib/new", "new\n");
    fixture.blueprint.version = "2";
    std::string checksum;
    Beside beside([&] { checksum = fixture.build("other").checksum; });
    const std::string before = first.checksum + "\n";
    EXPECT_TRUE(beside.wait_until(
        [&] { return read_file(fixture.repo() / "refs/heads" / first.ref) != before; }));
    // The build gives its lock back when the ref is set.
    Fd whole(::open((fixture.repo() / ".lock").c_str(), O_RDWR | O_CLOEXEC));
    EXPECT_TRUE(beside.wait_until([&] { return lock_whole_repository(whole); }));
    held.clear();
    EXPECT_EQ(beside.join(), "");
    EXPECT_EQ(ostree(fixture, "rev-parse " + first.ref), checksum + "\n");
    ASSERT_EQ(fixture.warnings().size(), 1U);
    EXPECT_THAT(fixture.warnings().front(), testing::HasSubstr("the summary is not up to date"));
    // Before the ref is set, it is an error that says what to do.
    fixture.blueprint.version = "3";
    try {
        (void)fixture.build("more");
        ADD_FAILURE() << "built in a locked repository";
    } catch (const Error& caught) {
        EXPECT_THAT(caught.message(), testing::HasSubstr("cannot lock the repository"));
        EXPECT_THAT(caught.hint(), testing::HasSubstr("lock-timeout-secs"));
    }
    EXPECT_EQ(ostree(fixture, "rev-parse " + first.ref), checksum + "\n");
    whole.reset();
    EXPECT_EQ(fixture.build("more").parent, checksum);
}

TEST(Commit, WhenTheRefIsSetADamagedRefOfAnotherIsAWarning) {
    CommitFixture fixture;
    (void)fixture.build();
    const fs::path other = fixture.repo() / "refs/heads/other";
    std::ofstream(other) << std::string(64, 'a') << '\n';
    fixture.blueprint.version = "2";
    const Commit second = fixture.build("other");
    EXPECT_EQ(ostree(fixture, "rev-parse " + second.ref), second.checksum + "\n");
    ASSERT_EQ(fixture.warnings().size(), 1U);
    EXPECT_THAT(fixture.warnings().front(), testing::HasSubstr("No such metadata object"));
    // An owed summary that cannot be written is no reason to fail, either.
    EXPECT_TRUE(fixture.build("other").unchanged);
    EXPECT_THAT(fixture.warnings().back(), testing::HasSubstr("since an earlier build"));
    fs::remove(other);
    EXPECT_TRUE(fixture.build("other").unchanged);
    EXPECT_TRUE(has_summary_of(fixture, second.checksum));
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
    EXPECT_EQ(ostree(fixture, "rev-parse " + first.ref), second.checksum + "\n");
    EXPECT_THAT(fixture.warnings(), testing::ElementsAre(testing::HasSubstr(
                                        "but the summary is not up to date (out of memory)")));
}

TEST(Commit, PrunedObjectsAreMadeAgain) {
    CommitFixture fixture;
    const Commit first = fixture.build();
    const fs::path index = fixture.ctx().cache / "objects-index";
    ASSERT_TRUE(fs::exists(index));
    // All objects of the first are there when the second begins, and none when it is published.
    (void)ostree(fixture, "refs --delete " + first.ref);
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
    EXPECT_EQ(ostree(fixture, "rev-parse " + second.ref), second.checksum + "\n");
    expect_clean(fixture);
}

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
    EXPECT_EQ(ostree(fixture, "rev-parse " + first.ref), first.checksum + "\n");
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
    EXPECT_EQ(ostree(fixture, "rev-parse lab/new"), made.checksum + "\n");
    EXPECT_TRUE(fixture.build("inputs").unchanged);
}

TEST(Commit, OneThatWasPulledBecomesTheRefs) {
    CommitFixture fixture;
    const Commit first = fixture.build("inputs");
    fs::rename(fixture.repo(), fixture.directory() / "server");
    (void)ostree(fixture, "init --mode=archive");
    (void)ostree(fixture, "remote add --no-gpg-verify edge file://" +
                              (fixture.directory() / "server").string());
    (void)ostree(fixture, "pull edge " + first.ref);
    EXPECT_EQ(fixture.build("inputs").checksum, first.checksum);
    EXPECT_EQ(read_file(fixture.repo() / "refs/heads" / first.ref), first.checksum + "\n");
    EXPECT_TRUE(has_summary_of(fixture, first.checksum));
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

TEST(Commit, AFullDiskLeavesTheOldRef) {
    CommitFixture fixture;
    fs::create_directories(fixture.repo());
    ASSERT_EQ(::mount("tmpfs", fixture.repo().c_str(), "tmpfs", 0, "size=1m,mode=0755"), 0)
        << std::strerror(errno);
    const Commit first = fixture.build();
    std::string noise;
    for (unsigned i = 0; noise.size() < 3000000; ++i) {
        noise += fmt::format("{}", std::hash<unsigned>{}(i * 2654435761U));
    }
    fixture.add_file("/usr/lib/noise", noise);
    try {
        (void)fixture.build("x");
        ADD_FAILURE() << "the commit was written";
    } catch (const Error& caught) {
        EXPECT_EQ(caught.message(), fixture.repo().string() + ": no space left on device");
    }
    EXPECT_EQ(ostree(fixture, "rev-parse " + first.ref), first.checksum + "\n");
    expect_clean(fixture);
    fixture.tree.entries.erase("/usr/lib/noise");
    fixture.blueprint.version = "2";
    EXPECT_EQ(fixture.build("y").parent, first.checksum);
    EXPECT_EQ(::umount2(fixture.repo().c_str(), 0), 0) << std::strerror(errno);
}

TEST(Commit, IsSignedWithTheBlueprintsKey) {
    CommitFixture fixture;
    const fs::path home = fixture.directory() / "gpg";
    fs::create_directory(home);
    fs::permissions(home, fs::perms(0700));
    int status = -1;
    const std::string made = output_of(
        "gpg --homedir " + home.string() +
            " --batch --passphrase '' --quick-generate-key test@example.invalid ed25519 sign never",
        &status);
    if (status != 0) {
        GTEST_SKIP() << "no key can be made here: " << made;
    }
    const Commit earlier = fixture.build();
    EXPECT_FALSE(earlier.is_signed);
    fixture.blueprint.ostree.gpg_homedir = home;
    fixture.blueprint.ostree.sign = "test@example.invalid";
    EXPECT_TRUE(fixture.build().unchanged) << "it is the same image, but gets its signature";
    const std::string key = (fixture.directory() / "key.asc").string();
    (void)output_of("gpg --homedir " + home.string() + " --export --armor > " + key);
    const std::string client = (fixture.directory() / "client").string();
    const std::string pulled = output_of(
        "ostree --repo=" + client + " init --mode=bare-user && ostree --repo=" + client +
            " remote add --set=gpg-verify=true --set=gpg-verify-summary=true --gpg-import=" + key +
            " edge file://" + fixture.repo().string() + " && ostree --repo=" + client +
            " pull edge " + earlier.ref,
        &status);
    EXPECT_EQ(status, 0) << pulled;
    fixture.blueprint.version = "1.2.4";
    const Commit commit = fixture.build();
    EXPECT_TRUE(commit.is_signed);
    const std::string again =
        output_of("ostree --repo=" + client + " pull edge " + commit.ref, &status);
    EXPECT_EQ(status, 0) << again;
    (void)output_of("gpgconf --homedir " + home.string() + " --kill all");

    fixture.blueprint.ostree.sign = "nobody@example.invalid";
    fixture.blueprint.version = "2";
    try {
        (void)fixture.build("x");
        FAIL() << "signed with a key that is not there";
    } catch (const Error& caught) {
        EXPECT_NE(caught.message().find("cannot sign with GPG key nobody@example.invalid"),
                  std::string::npos)
            << caught.message();
    }
    EXPECT_EQ(ostree(fixture, "rev-parse " + commit.ref), commit.checksum + "\n");
}

}  // namespace
}  // namespace edgegpu
