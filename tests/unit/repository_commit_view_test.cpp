#include "repository/commit_view.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "commit/object.hpp"
#include "support/commit_fixture.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using test::CommitFixture;

fs::path object_file(const CommitFixture& fixture, const std::string& checksum,
                     const std::string& extension) {
    return fixture.repo() / "objects" / object_path(checksum, extension);
}

/// The message of the Error that `call` throws, with its hint behind a bar.
template <typename Call>
std::string failure_of(const Call& call) {
    try {
        call();
    } catch (const Error& caught) {
        return caught.message() + " | " + caught.hint();
    }
    return "no error";
}

std::string opening_fails(const CommitFixture& fixture, const std::string& name) {
    std::string message = failure_of([&] { (void)RepositoryView(fixture.repo()).open(name); });
    const std::string repository = fixture.repo().string() + ": ";
    return message.starts_with(repository) ? message.substr(repository.size()) : message;
}

/// What is ignored would be missing on a device: security=selinux, for one.
TEST(CommitView, MetadataOfAnotherTypeAreErrors) {
    CommitFixture fixture;
    const Commit first = fixture.build("one");
    const auto with = [&](const std::string& metadata) {
        int status = 0;
        const std::string checksum = test::output_of(
            fmt::format("ostree commit --repo={} --tree=ref={} --orphan --no-bindings '{}'",
                        fixture.repo().string(), first.checksum, metadata),
            &status);
        EXPECT_EQ(status, 0) << checksum;
        return opening_fails(fixture, checksum.substr(0, 64));
    };
    EXPECT_NE(with("--add-metadata-string=edgegpu.kargs=security=selinux")
                  .find("'edgegpu.kargs' of its metadata has the type s, not as | it was not"),
              std::string::npos);
    for (const auto& [key, value] : {std::pair<const char*, const char*>{"version", "uint32 1"},
                                     {"ostree.linux", "[\"x\"]"},
                                     {"edgegpu.nvidia-driver", "true"},
                                     {"edgegpu.kargs", "[1, 2]"},
                                     {"edgegpu.container-images", "[\"x\"]"},
                                     {"rpmostree.rpmdb.pkglist", "\"x\""}}) {
        EXPECT_NE(with(fmt::format("--add-metadata={}={}", key, value))
                      .find(fmt::format("'{}' of its metadata has the type", key)),
                  std::string::npos)
            << key;
    }
    EXPECT_NE(with("--add-metadata-string=version=" + std::string(5000, 'v'))
                  .find("a text in 'version' of its metadata has 5000 bytes"),
              std::string::npos);
    EXPECT_EQ(with("--add-metadata=edgegpu.kargs=[\"quiet\"]"), "no error");
}

TEST(RepositoryView, FindsRefsChecksumsTheirBeginningsAndParents) {
    CommitFixture fixture;
    const Commit first = fixture.build("one");
    fixture.blueprint.version = "1.2.4";
    const Commit second = fixture.build("two");
    const RepositoryView repository(fixture.repo());
    const auto checksum = [&](const std::string& name) {
        return repository.open(name).info().checksum;
    };
    EXPECT_EQ(checksum(second.ref), second.checksum);
    EXPECT_EQ(checksum(second.ref + "^"), first.checksum);
    EXPECT_EQ(checksum(second.checksum), second.checksum);
    EXPECT_EQ(checksum(second.checksum + "^"), first.checksum);
    EXPECT_EQ(checksum(second.checksum.substr(0, 12)), second.checksum);
    EXPECT_EQ(checksum(first.checksum.substr(0, 8)), first.checksum);
    const CommitInfo info = repository.open(second.ref).info();
    EXPECT_EQ(info.name, second.ref);
    EXPECT_EQ(info.parent, first.checksum);
    EXPECT_EQ(info.version, "1.2.4");
    EXPECT_EQ(info.kernel, "6.1.0-50-amd64");
    EXPECT_EQ(info.time, 1700000001) << "one second after the parent";
    EXPECT_EQ(info.kernel_arguments, std::vector<std::string>{});
    EXPECT_EQ(info.packages, std::vector<Nevra>{});
}

TEST(RepositoryView, SaysWhatANameIsNot) {
    CommitFixture fixture;
    const Commit commit = fixture.build();
    EXPECT_EQ(opening_fails(fixture, "lab/12/x86_64/egde"),
              "no ref or commit \"lab/12/x86_64/egde\" | did you mean lab/12/x86_64/edge?");
    EXPECT_EQ(opening_fails(fixture, "nothing-like-it"),
              "no ref or commit \"nothing-like-it\" | existing refs: lab/12/x86_64/edge");
    EXPECT_EQ(opening_fails(fixture, ""),
              "no ref or commit \"\" | existing refs: lab/12/x86_64/edge");
    EXPECT_EQ(opening_fails(fixture, "^"),
              "no ref or commit \"\" | existing refs: lab/12/x86_64/edge");
    // Three digits may be anything.
    EXPECT_EQ(opening_fails(fixture, commit.checksum.substr(0, 3)),
              "no ref or commit \"" + commit.checksum.substr(0, 3) +
                  "\" | existing refs: lab/12/x86_64/edge");
    EXPECT_EQ(opening_fails(fixture, "../../../etc/passwd"),
              "no ref or commit \"../../../etc/passwd\" | existing refs: lab/12/x86_64/edge");
    EXPECT_EQ(opening_fails(fixture, commit.ref + "^"),
              "lab/12/x86_64/edge is the first of its history and has no parent | name two "
              "commits: edgegpu diff A B");
    std::string other = commit.checksum;
    other.back() = other.back() == '0' ? '1' : '0';
    fs::copy_file(object_file(fixture, commit.checksum, "commit"),
                  object_file(fixture, other, "commit"));
    const std::string ambiguous = opening_fails(fixture, commit.checksum.substr(0, 10));
    EXPECT_TRUE(ambiguous.starts_with("\"" + commit.checksum.substr(0, 10) +
                                      "\" is the beginning of 2 commits | add digits: "))
        << ambiguous;
}

TEST(RepositoryView, IsAnOstreeRepository) {
    CommitFixture fixture;
    const std::string none = (fixture.directory() / "none").string();
    EXPECT_EQ(failure_of([&] { RepositoryView view(none); }),
              none + ": no such directory | name the repository with --repo");
    const std::string content = (fixture.directory() / "content").string();
    EXPECT_EQ(failure_of([&] { RepositoryView view(content); }),
              content + ": not an ostree repository | name the repository with --repo");
}

TEST(RepositoryView, TellsOfParentsThatWerePruned) {
    CommitFixture fixture;
    const Commit first = fixture.build("one");
    fixture.blueprint.version = "1.2.4";
    (void)fixture.build("two");
    fs::remove(object_file(fixture, first.checksum, "commit"));
    EXPECT_EQ(opening_fails(fixture, first.ref + "^"),
              "the parent of lab/12/x86_64/edge, commit " + first.checksum +
                  ", is not in the repository | it was pruned or never pulled; `ostree pull "
                  "--depth=1` pulls parents as well");
}

TEST(CommitView, ReadsPathsWithAllTheyHave) {
    CommitFixture fixture;
    Entry& tool = fixture.tree.entries.at("/usr/bin/tool");
    tool.label = "system_u:object_r:bin_t:s0";
    tool.mode = 04755;
    tool.gid = 99;
    tool.capabilities = std::string("\1\0\0\2", 4);
    fixture.add_directory("/usr/lib/d", 01777);
    fixture.tree.entries.at("/usr/lib/d").label = "system_u:object_r:lib_t:s0";
    const Commit built = fixture.build();
    const CommitView commit = RepositoryView(fixture.repo()).open(built.ref);
    const auto file = commit.describe("/usr/bin/tool");
    ASSERT_TRUE(file);
    EXPECT_EQ(file->type, EntryType::file);
    EXPECT_EQ(file->size, 20U);
    EXPECT_EQ(file->mode, 04755U);
    EXPECT_EQ(file->gid, 99U);
    EXPECT_EQ(file->label, "system_u:object_r:bin_t:s0");
    EXPECT_FALSE(file->attributes.empty());
    EXPECT_EQ(commit.read("/usr/bin/tool", 100), "#!/bin/sh\necho tool\n");
    const auto directory = commit.describe("/usr/lib/d");
    ASSERT_TRUE(directory);
    EXPECT_EQ(directory->type, EntryType::directory);
    EXPECT_EQ(directory->mode, 01777U);
    EXPECT_EQ(directory->label, "system_u:object_r:lib_t:s0");
    const auto link = commit.describe("/bin");
    ASSERT_TRUE(link);
    EXPECT_EQ(link->type, EntryType::symlink);
    EXPECT_EQ(link->target, "usr/bin");
    EXPECT_TRUE(commit.describe("/")->attributes.empty());
    for (const char* absent : {"/no", "/usr/bin/tool/x", "/bin/tool", "/usr/lib/"}) {
        EXPECT_EQ(commit.read(absent, 100), std::nullopt) << absent;
    }
    EXPECT_EQ(commit.read("/usr/bin", 100), std::nullopt);
    EXPECT_EQ(commit.read("/bin", 100), std::nullopt);
    EXPECT_EQ(commit.read("/usr/lib/empty", 0), "");
}

TEST(CommitView, RefusesFilesLargerThanExpected) {
    CommitFixture fixture;
    // Deflated it is small: what counts is what comes out.
    fixture.add_file("/usr/lib/zeros", std::string(3000000, '\0'));
    const Commit built = fixture.build();
    const CommitView commit = RepositoryView(fixture.repo()).open(built.ref);
    EXPECT_EQ(failure_of([&] { (void)commit.read("/usr/lib/zeros", 1000000); }),
              fixture.repo().string() + ": commit " + built.checksum +
                  ": /usr/lib/zeros is larger than 1000000 bytes | no image has such a file: "
                  "where does this commit come from?");
}

TEST(CommitView, ACommitInPartIsAnError) {
    CommitFixture fixture;
    const Commit commit = fixture.build();
    const fs::path marker = fixture.repo() / "state" / (commit.checksum + ".commitpartial");
    write_file(marker, "");
    EXPECT_EQ(opening_fails(fixture, commit.ref),
              "commit " + commit.checksum +
                  " is incomplete: it was pulled partially | pull it again without "
                  "--commit-metadata-only and --subpath");
}

TEST(CommitView, MissingObjectsAreNamedByTheirPath) {
    CommitFixture fixture;
    const Commit built = fixture.build();
    const CommitView commit = RepositoryView(fixture.repo()).open(built.ref);
    const std::string file = commit.find("/usr/bin/tool")->checksum;
    const std::string directory = commit.find("/usr/lib")->checksum;
    fs::remove(object_file(fixture, file, "filez"));
    fs::remove(object_file(fixture, directory, "dirtree"));
    const std::string whose = fixture.repo().string() + ": commit " + built.checksum;
    const std::string hint = " | pull the commit again, or check the repository with `ostree fsck`";
    EXPECT_EQ(
        failure_of([&] { (void)commit.describe("/usr/bin/tool"); }),
        whose + " is incomplete: the object of /usr/bin/tool is missing (" + file + ")" + hint);
    EXPECT_EQ(
        failure_of([&] { (void)commit.read("/usr/lib/passwd", 100); }),
        whose + " is incomplete: the object of /usr/lib is missing (" + directory + ")" + hint);
}

TEST(CommitView, BadNamesAndGarbageAreErrors) {
    for (const char* name : {"..", ".", "", "a/b", "/etc"}) {
        CommitFixture fixture;
        const Commit built = fixture.build();
        const CommitView commit = RepositoryView(fixture.repo()).open(built.ref);
        const std::string target = commit.find("/usr/lib")->checksum;
        const std::string bytes(32, '\1');
        GVariantBuilder files;
        g_variant_builder_init(&files, G_VARIANT_TYPE("a(say)"));
        g_variant_builder_add(
            &files, "(s@ay)", name,
            g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, bytes.data(), bytes.size(), 1));
        const VariantHandle hostile =
            own(g_variant_new("(a(say)@a(sayay))", &files,
                              g_variant_new_array(G_VARIANT_TYPE("(sayay)"), nullptr, 0)));
        std::string serialised(g_variant_get_size(hostile.get()), '\0');
        g_variant_store(hostile.get(), serialised.data());
        write_file(object_file(fixture, target, "dirtree"), serialised);
        const std::string message = failure_of([&] { (void)commit.find("/usr/lib/passwd"); });
        EXPECT_NE(
            message.find(fmt::format("malformed object of /usr/lib: invalid entry \"{}\"", name)),
            std::string::npos)
            << message;
    }
    CommitFixture fixture;
    const Commit built = fixture.build();
    const CommitView commit = RepositoryView(fixture.repo()).open(built.ref);
    std::string garbage;
    for (int i = 0; i < 999; ++i) {
        garbage += static_cast<char>(i * 37);
    }
    write_file(object_file(fixture, commit.find("/usr/lib")->checksum, "dirtree"), garbage);
    const std::string message = failure_of([&] { (void)commit.find("/usr/lib/passwd"); });
    EXPECT_NE(message.find("malformed object of /usr/lib"), std::string::npos) << message;
    write_file(object_file(fixture, commit.find("/usr/bin/tool")->checksum, "filez"), garbage);
    EXPECT_NE(failure_of([&] { (void)commit.read("/usr/bin/tool", 1000); }), "no error");
}

}  // namespace
}  // namespace edgegpu
