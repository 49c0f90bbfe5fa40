#include "repository/check.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commit/commit.hpp"
#include "commit/object.hpp"
#include "repository/commit_view.hpp"
#include "support/access_list.hpp"
#include "support/commit_fixture.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/handles.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using test::CommitFixture;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

/// What `work` returns or throws, in a process of its own, which a signal may end: "signal 6". One
/// that hangs is ended.
std::string outcome_of(const std::function<std::string()>& work) {
    constexpr unsigned hangs = 60;  // seconds
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) {
        return "no pipe";
    }
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(hangs);
        std::string text;
        try {
            text = work();
        } catch (const Error& caught) {
            text = caught.message() + " | " + caught.hint();
        }
        ::_exit(write_all(ends[1], text) ? 0 : 1);
    }
    ::close(ends[1]);
    const Fd reading(ends[0]);
    std::string text;
    std::array<char, 4096> buffer{};
    for (ssize_t got = 0; (got = ::read(reading.get(), buffer.data(), buffer.size())) > 0;) {
        text.append(buffer.data(), static_cast<std::size_t>(got));
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status)) : text;
}

/// A repository with one ref.
class RepositoryCheck : public testing::Test {
protected:
    RepositoryCheck() { fixture_.blueprint.ostree.ref = "lab/edge"; }

    void SetUp() override { (void)fixture_.build(); }

    [[nodiscard]] fs::path at(const std::string& name) const { return fixture_.repo() / name; }
    [[nodiscard]] std::string opened(const std::string& ref = "lab/edge") const {
        return outcome_of([&] {
            const Repo repo(fixture_.ctx(), fixture_.repo(), ref);
            return std::string("opened");
        });
    }
    [[nodiscard]] std::string read() const {
        return outcome_of(
            [&] { return RepositoryView(fixture_.repo()).open("lab/edge").info().version; });
    }
    void replace(const std::string& name, const std::function<void(const fs::path&)>& make) const {
        fs::remove_all(at(name));
        make(at(name));
    }

    // NOLINTNEXTLINE(*-non-private-*)
    CommitFixture fixture_;
};

void make_fifo(const fs::path& path) {
    EXPECT_EQ(::mkfifo(path.c_str(), 0644), 0) << std::strerror(errno);
}

std::function<void(const fs::path&)> make_link_to(const fs::path& target) {
    return [target](const fs::path& path) { fs::create_symlink(target, path); };
}

void make_huge(const fs::path& path) {
    std::ofstream(path) << "x";
    fs::resize_file(path, std::uintmax_t{1} << 40U);
}

/// A fifo where a file is expected holds whoever opens it, and a link leads out.
TEST_F(RepositoryCheck, NothingIsReadThatIsNotWhatItHasToBe) {
    for (const char* name : {"config", "refs/heads/lab/edge", "refs/heads/lab/other"}) {
        replace(name, make_fifo);
        for (const std::string& said : {opened(), read()}) {
            EXPECT_THAT(said, AllOf(StartsWith(at(name).string() + ": is a fifo"))) << name;
        }
        fs::remove(at(name));
        fs::remove_all(fixture_.repo());
        (void)fixture_.build();
    }
    for (const char* name : {"objects", "refs", "refs/heads", "tmp", "state", "edgegpu-locks",
                             "summary", ".lock", "config", "objects/00"}) {
        const fs::path elsewhere = fixture_.directory() / "elsewhere";
        fs::remove_all(elsewhere);
        if (fs::exists(at(name))) {
            fs::rename(at(name), elsewhere);
        } else {
            fs::create_directory(elsewhere);
        }
        fs::create_symlink(elsewhere, at(name));
        for (const std::string& said : {opened(), read()}) {
            EXPECT_THAT(said, StartsWith(at(name).string() + ": is a link")) << name;
        }
        fs::remove_all(fixture_.repo());
        (void)fixture_.build();
    }
}

TEST_F(RepositoryCheck, ADirectoryIsNoFileAndAFileNoDirectory) {
    for (const char* name : {"summary", "summary.sig", ".lock", "config"}) {
        replace(name, [](const fs::path& path) { fs::create_directory(path); });
        for (const std::string& said : {opened(), read()}) {
            EXPECT_THAT(said, StartsWith(at(name).string() + ": is a directory")) << name;
        }
        fs::remove_all(fixture_.repo());
        (void)fixture_.build();
    }
    for (const char* name : {"edgegpu-locks", "tmp/cache", "deltas", "objects/00"}) {
        replace(name, [](const fs::path& path) { std::ofstream(path) << "x"; });
        const std::string said = opened();
        if (std::string(name) == "deltas") {
            EXPECT_THAT(said, HasSubstr("Not a directory"));
        } else {
            EXPECT_THAT(said, StartsWith(at(name).string() + ": is a file")) << name;
        }
        fs::remove_all(fixture_.repo());
        (void)fixture_.build();
    }
}

TEST_F(RepositoryCheck, HugeFilesAreNotReadIntoMemory) {
    for (const char* name : {"config", "refs/heads/lab/other", "refs/mirrors/org.x/y"}) {
        fs::create_directories(at(name).parent_path());
        replace(name, make_huge);
        for (const std::string& said : {opened(), read()}) {
            EXPECT_THAT(
                said, AllOf(StartsWith(at(name).string() + ": "), HasSubstr("more than any has")));
        }
        fs::remove_all(fixture_.repo());
        (void)fixture_.build();
    }
}

TEST_F(RepositoryCheck, LinksBelowRefsLeadToRefs) {
    const fs::path secret = fixture_.directory() / "secret";
    std::ofstream(secret) << "the secret\n";
    for (const fs::path& target :
         {fs::path("nowhere"), fs::path("lab"), fs::path("x"), fs::path("../../config"), secret,
          fs::path("/dev/zero"), fs::path("../../../content")}) {
        const fs::path link = at("refs/heads/x");
        fs::remove(link);
        fs::create_symlink(target, link);
        for (const std::string& said : {opened(), opened("x/y"), opened("x/y/z"), read()}) {
            EXPECT_THAT(said, AllOf(StartsWith(link.string() + ": "), HasSubstr("rm "))) << target;
            EXPECT_THAT(said, testing::Not(HasSubstr("secret\n")));
        }
    }
    replace("refs/heads/x", make_link_to("lab/edge"));
    EXPECT_EQ(opened(), "opened");
    EXPECT_EQ(read(), "1.2.3");
    EXPECT_EQ(RepositoryView(fixture_.repo()).refs().at("x"),
              RepositoryView(fixture_.repo()).refs().at("lab/edge"));
    EXPECT_THAT(opened("x"), HasSubstr("ref x is an alias"));
    EXPECT_THAT(opened("x/y"), HasSubstr("refs x and x/y exclude each other"));
    EXPECT_THAT(opened("lab"), HasSubstr("refs lab/edge and lab exclude each other"));
}

TEST_F(RepositoryCheck, OnlyRefsHaveAliases) {
    for (const char* name : {"refs/mirrors/org.x/y", "deltas/ab/c", "edgegpu-locks/o.summary"}) {
        fs::create_directories(at(name).parent_path());
        fs::create_symlink(at("refs/heads/lab/edge"), at(name));
        for (const std::string& said : {opened(), read()}) {
            EXPECT_THAT(said, StartsWith(at(name).string() + ": is a link")) << name;
        }
        fs::remove(at(name));
    }
}

TEST_F(RepositoryCheck, ARefContainsAChecksum) {
    for (const char* content : {"", "\n", "0123", "../../../etc/passwd"}) {
        std::ofstream(at("refs/heads/other")) << content;
        for (const std::string& said : {opened(), read()}) {
            EXPECT_THAT(said, StartsWith(at("refs/heads/other").string() + ": not a ref"))
                << content;
        }
    }
    // What rsync and others leave.
    fs::remove(at("refs/heads/other"));
    make_fifo(at("tmp/fifo"));
    std::ofstream(at("refs/heads/.rsync")) << "mine";
    EXPECT_EQ(opened(), "opened");
    EXPECT_EQ(read(), "1.2.3");
}

TEST_F(RepositoryCheck, ObjectsAreFiles) {
    const std::string commit = RepositoryView(fixture_.repo()).refs().at("lab/edge");
    for (const char* extension : {"commit", "commitmeta"}) {
        const std::string name =
            fmt::format("objects/{}/{}.{}", commit.substr(0, 2), commit.substr(2), extension);
        const fs::path kept = fixture_.directory() / "kept";
        fs::rename(at(name), kept);
        make_fifo(at(name));
        const std::string said = outcome_of([&] {
            return RepositoryView(fixture_.repo()).open("lab/edge").detached_metadata() ? "read"
                                                                                        : "none";
        });
        EXPECT_THAT(said, HasSubstr("not a regular file"));
        const std::string built = outcome_of([&] { return fixture_.build("other").checksum; });
        EXPECT_THAT(built, AnyOf(HasSubstr("not a regular file"), HasSubstr("is a fifo")));
        fs::remove(at(name));
        fs::rename(kept, at(name));
    }
    // A link is not the object, though what it leads to may have its content.
    fixture_.add_file("/usr/lib/more", "more\n");
    (void)fixture_.build("second");
    const auto node = RepositoryView(fixture_.repo()).open("lab/edge").find("/usr/lib/more");
    const fs::path object = at("objects") / object_path(node.value().checksum, "filez");
    const fs::path moved = fixture_.directory() / "moved.filez";
    fs::rename(object, moved);
    fs::create_symlink(moved, object);
    fixture_.blueprint.version = "2";
    EXPECT_THAT(outcome_of([&] { return fixture_.build("third").checksum; }),
                HasSubstr(".filez: is a link, not an object"));
}

/// With the ids of another user, and without capabilities.
std::string as_user(uid_t user, gid_t group, const std::vector<gid_t>& more,
                    const std::function<std::string()>& work) {
    return outcome_of([&] {
        __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
        const std::array<__user_cap_data_struct, 2> none{};
        const bool changed = ::setgroups(more.size(), more.data()) == 0 && ::setgid(group) == 0 &&
                             ::setuid(user) == 0 &&
                             ::syscall(SYS_capset, &header, none.data()) == 0;
        return changed ? work() : fmt::format("cannot become user {}", user);
    });
}

void give_to(const fs::path& path, uid_t user, gid_t group) {
    EXPECT_EQ(::lchown(path.c_str(), user, group), 0) << std::strerror(errno);
}

void give_all(const fs::path& top, uid_t user, gid_t group) {
    give_to(top, user, group);
    for (const auto& item : fs::recursive_directory_iterator(top)) {
        give_to(item.path(), user, group);
    }
}

constexpr uid_t alice = 2001;
constexpr uid_t bob = 2002;
constexpr gid_t builders = 3001;

class RepositoryWriters : public RepositoryCheck {
protected:
    void SetUp() override {
        RepositoryCheck::SetUp();
        fs::permissions(fixture_.directory(), fs::perms(0755));
    }
};

TEST_F(RepositoryWriters, RootDoesNotWriteToOneOfAnotherUser) {
    EXPECT_EQ(opened(), "opened");
    for (const char* name : {"", "objects", "objects/00", "refs/heads", "refs/heads/lab", "tmp",
                             "edgegpu-locks", "config", "refs/heads/lab/edge", "summary"}) {
        const fs::path path = std::string(name).empty() ? fixture_.repo() : at(name);
        if (!fs::exists(path)) {
            fs::create_directory(path);
        }
        give_to(path, alice, alice);
        EXPECT_THAT(opened(), AllOf(StartsWith(path.string() + ": belongs to "),
                                    HasSubstr("build as that user"), HasSubstr("--repo")))
            << name;
        give_to(path, ::geteuid(), ::getegid());
    }
    EXPECT_EQ(opened(), "opened");
    give_all(fixture_.repo(), alice, alice);
    EXPECT_EQ(read(), "1.2.3") << "reading is no matter";
    EXPECT_EQ(as_user(alice, alice, {}, [&] { return opened(); }), "opened");
    fs::create_directory(fixture_.directory() / "empty");
    give_to(fixture_.directory() / "empty", alice, alice);
    EXPECT_THAT(outcome_of([&] {
                    const Repo repo(fixture_.ctx(), fixture_.directory() / "empty", "a");
                    return std::string("opened");
                }),
                HasSubstr("belongs to"));
}

TEST_F(RepositoryWriters, OnesThatEverybodyOrAnyGroupCanWriteToAreRefused) {
    for (const char* name : {"", "objects", "refs/heads/lab", "tmp", "edgegpu-locks", "config"}) {
        const fs::path path = std::string(name).empty() ? fixture_.repo() : at(name);
        struct stat before {};
        ASSERT_EQ(::stat(path.c_str(), &before), 0);
        fs::permissions(path, fs::perms::others_write, fs::perm_options::add);
        EXPECT_THAT(opened(), AllOf(StartsWith(path.string() + ": every user can write to it"),
                                    HasSubstr("chmod -R o-w")));
        fs::permissions(path, fs::perms(before.st_mode & 07777U));
        if (!std::string(name).empty()) {
            fs::permissions(path, fs::perms::group_write, fs::perm_options::add);
            EXPECT_THAT(opened(), AllOf(StartsWith(path.string() + ": a group can write to it"),
                                        HasSubstr("chmod -R g-w")));
            fs::permissions(path, fs::perms(before.st_mode & 07777U));
        }
    }
    EXPECT_EQ(opened(), "opened");
}

/// With a list, the permissions of the group are the list's mask: the user's own group may well be
/// the repository's, and need not be who can write.
TEST_F(RepositoryWriters, OnesThatAnAccessControlListLetsOthersWriteToAreRefused) {
    for (const char* name : {"", "objects", "refs/heads/lab", "edgegpu-locks", "config"}) {
        const fs::path path = std::string(name).empty() ? fixture_.repo() : at(name);
        for (const char* kind : {"access", "default"}) {
            if (kind == std::string("default") && !fs::is_directory(path)) {
                continue;
            }
            if (!test::set_access_list(path, kind, 7, 7, 5)) {
                GTEST_SKIP() << "a file system without access control lists";
            }
            EXPECT_THAT(opened(),
                        AllOf(StartsWith(path.string() + ": whom its access control list names"),
                              HasSubstr("setfacl -R -b '" + fixture_.repo().string() + "'")))
                << kind;
            ASSERT_TRUE(test::set_access_list(path, kind, 5, 7, 5));
            EXPECT_EQ(opened(), "opened") << kind << ": one that lets somebody read";
        }
    }
    // All of it, as setfacl -R does it: it is not the group that may write.
    for (const auto& item : fs::recursive_directory_iterator(fixture_.repo())) {
        ASSERT_TRUE(test::set_access_list(item.path(), "access", 7, 7, 5));
    }
    ASSERT_TRUE(test::set_access_list(fixture_.repo(), "access", 7, 7, 5));
    EXPECT_THAT(opened(), StartsWith(fixture_.repo().string() + ": whom its access control list"));
}

/// Modes and groups of all directories, and files that are locked.
void expect_shared(const fs::path& repository) {
    for (const auto& item : fs::recursive_directory_iterator(repository)) {
        struct stat status {};
        ASSERT_EQ(::lstat(item.path().c_str(), &status), 0);
        if (item.path().string().find("/tmp/cache") != std::string::npos) {
            continue;  // libostree's own, of downloads
        }
        EXPECT_EQ(status.st_gid, builders) << item.path();
        if (S_ISDIR(status.st_mode)) {
            EXPECT_EQ(status.st_mode & 07777U, 02775U) << item.path();
        } else if (item.path().extension() == ".lock" || item.path().filename() == ".lock") {
            EXPECT_EQ(status.st_mode & 0777U, 0660U) << item.path();
        } else {
            EXPECT_EQ(status.st_mode & 0044U, 0044U) << item.path();
        }
    }
}

TEST_F(RepositoryWriters, TwoUsersOfAGroupShareOne) {
    fs::remove_all(fixture_.repo());
    fs::create_directory(fixture_.repo());
    give_to(fixture_.repo(), alice, builders);
    ASSERT_EQ(::chmod(fixture_.repo().c_str(), 02775), 0);
    give_all(fixture_.ctx().cache, alice, builders);
    fs::permissions(fixture_.ctx().cache, fs::perms(0777));
    for (const auto& item : fs::directory_iterator(fixture_.directory() / "content")) {
        fs::permissions(item.path(), fs::perms(0644));
    }
    std::vector<std::string> commits;
    for (unsigned round = 0; round < 4; ++round) {
        const uid_t user = round % 2 == 0 ? alice : bob;
        fs::remove(fixture_.ctx().cache / "objects-index");
        fixture_.add_file("/usr/lib/round", std::to_string(round));
        fixture_.blueprint.ostree.ref = round < 2 ? "lab/edge" : fmt::format("lab/r{}", round / 3);
        const std::string said = as_user(
            user, user, {builders}, [&] { return fixture_.build(std::to_string(round)).checksum; });
        EXPECT_THAT(said, testing::MatchesRegex("[0-9a-f]{64}")) << said;
        commits.push_back(said);
        expect_shared(fixture_.repo());
    }
    EXPECT_EQ(RepositoryView(fixture_.repo()).open(commits[1]).info().parent, commits[0]);
    // What a killed build of the one leaves, the other removes.
    const std::string leftover = "tmp/edgegpu-lab%2Fr1@1";
    EXPECT_EQ(as_user(alice, alice, {builders},
                      [&] {
                          const Repo repo(fixture_.ctx(), fixture_.repo(), "lab/r1");
                          const fs::path made = at("tmp/edgegpu-lab%2Fr1@1");
                          fs::create_directories(made / "ab");
                          fs::permissions(made, fs::perms(0775));
                          fs::permissions(made / "ab", fs::perms(0775));
                          return std::string("left");
                      }),
              "left");
    EXPECT_EQ(as_user(bob, bob, {builders}, [&] { return opened("lab/r1"); }), "opened");
    EXPECT_FALSE(fs::exists(at(leftover)));
    // Root shares it if it is in the group, or if it has set it up.
    EXPECT_THAT(opened(), HasSubstr("belongs to"));
    give_to(fixture_.repo(), ::geteuid(), builders);
    EXPECT_EQ(opened(), "opened");
    // Not who is in another group.
    EXPECT_THAT(as_user(2003, 2003, {3002}, [&] { return opened(); }),
                HasSubstr("cannot write to the repository"));
}

TEST_F(RepositoryWriters, WhatIsMadeInASharedOneGetsItsGroup) {
    give_all(fixture_.repo(), alice, builders);
    for (const auto& item : fs::recursive_directory_iterator(fixture_.repo())) {
        if (item.is_directory()) {
            fs::permissions(item.path(), fs::perms(0775));
        }
    }
    fs::permissions(fixture_.repo(), fs::perms(0775));
    EXPECT_THAT(as_user(bob, bob, {builders}, [&] { return opened(); }),
                AllOf(HasSubstr("what is made in it gets another group"), HasSubstr("g+s")));
    fs::permissions(fixture_.repo(), fs::perms(02775));
    EXPECT_THAT(as_user(bob, bob, {builders}, [&] { return opened(); }),
                AllOf(StartsWith(at(".lock").string()), HasSubstr("chmod g+rw")));
}

TEST_F(RepositoryWriters, ModesOfWhatWasThereStay) {
    for (const char* name : {"objects", "refs/heads", "refs/heads/lab", "edgegpu-locks"}) {
        fs::permissions(at(name), fs::perms(02750));
    }
    fixture_.add_file("/usr/lib/more", "more\n");
    (void)fixture_.build("other");
    for (const char* name : {"objects", "refs/heads", "refs/heads/lab", "edgegpu-locks"}) {
        struct stat status {};
        ASSERT_EQ(::stat(at(name).c_str(), &status), 0);
        EXPECT_EQ(status.st_mode & 07777U, 02750U) << name;
    }
    // New ones get the set-group-ID bit from the one above, as always.
    fixture_.blueprint.ostree.ref = "lab/new/ref";
    (void)fixture_.build("new");
    struct stat status {};
    ASSERT_EQ(::stat(at("refs/heads/lab/new").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777U, 02755U);
}

}  // namespace
}  // namespace edgegpu
