#include "commit/commit.hpp"

#include <algorithm>
#include <filesystem>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "commit/signing_request.hpp"
#include "support/commit_fixture.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/handles.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using test::CommitFixture;
using test::output_of;

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
    fixture.expect_clean();
    EXPECT_EQ(fixture.ostree("rev-parse " + commit.ref), commit.checksum + "\n");
    EXPECT_EQ(fixture.ostree("cat " + commit.ref + " /usr/bin/tool"), "#!/bin/sh\necho tool\n");
    EXPECT_EQ(fixture.ostree("cat " + commit.ref + " /usr/lib/large"), std::string(100000, 'z'));
    EXPECT_EQ(fixture.ostree("cat " + commit.ref + " /usr/lib/empty"), "");
    const std::string list = fixture.ostree("ls -R -X " + commit.ref);
    EXPECT_NE(list.find("-04755 0 99     20 { [(b'security.selinux', "
                        "b'system_u:object_r:bin_t:s0')] } /usr/bin/tool"),
              std::string::npos)
        << list;
    EXPECT_NE(list.find("/bin -> usr/bin"), std::string::npos) << list;
    const std::string out = (fixture.directory() / "out").string();
    int status = -1;
    const std::string output = fixture.ostree("checkout -U " + commit.ref + " " + out, &status);
    EXPECT_EQ(status, 0) << output;
    EXPECT_EQ(read_file(fs::path(out) / "usr/lib/d/y"), "y\n");
    EXPECT_TRUE(fs::is_symlink(fs::path(out) / "bin"));
}

TEST(Commit, EqualsOstreesOwnTreeForTheSameFiles) {
    CommitFixture fixture;
    const Commit commit = fixture.build();
    const std::string out = (fixture.directory() / "out").string();
    (void)fixture.ostree("checkout -U " + commit.ref + " " + out);
    (void)fixture.ostree("commit -b theirs --owner-uid=0 --owner-gid=0 --no-xattrs --tree=dir=" +
                         out);
    // The first two words of a tree's listing are its checksums.
    EXPECT_EQ(fixture.ostree("ls -C -R " + commit.ref), fixture.ostree("ls -C -R theirs"));
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
        return fixture.ostree("show --print-metadata-key=" + name + " " + commit.ref);
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
    const std::string shown = fixture.ostree("show " + commit.ref);
    EXPECT_NE(shown.find("Date:  2023-11-14 22:13:20 +0000"), std::string::npos) << shown;
    const std::string summary = fixture.ostree("summary -v");
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
    fixture.expect_clean();
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
    fixture.expect_clean();
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
    EXPECT_EQ(fixture.ostree("rev-parse " + first.ref), first.checksum + "\n");
    fixture.expect_clean();
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
    EXPECT_EQ(fixture.ostree("rev-parse " + commit.ref), commit.checksum + "\n");
}

}  // namespace
}  // namespace edgegpu
