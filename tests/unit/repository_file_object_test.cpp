#include "repository/file_object.hpp"

#include <algorithm>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "commit/object.hpp"
#include "support/commit_fixture.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using test::CommitFixture;

/// A repository in which the object of /usr/bin/tool is replaced.
class HostileObject : public testing::Test {
protected:
    void SetUp() override {
        commit_ = fixture_.build().checksum;
        const auto tool = open().find("/usr/bin/tool");
        ASSERT_TRUE(tool);
        object_ = fixture_.repo() / "objects" / object_path(tool->checksum, "filez");
    }

    [[nodiscard]] CommitView open() const { return RepositoryView(fixture_.repo()).open(commit_); }

    /// What `describe` and `read` both say, behind the commit.
    [[nodiscard]] std::string refusal() const {
        std::string described =
            error_in([&] { static_cast<void>(open().describe("/usr/bin/tool")); });
        EXPECT_EQ(error_in([&] { static_cast<void>(open().read("/usr/bin/tool", 1000)); }),
                  described);
        return described;
    }

    template <typename Call>
    static std::string error_in(const Call& call) {
        try {
            call();
        } catch (const Error& caught) {
            const std::string& said = caught.message();
            return said.substr(std::min(said.rfind("/usr/bin/tool"), said.size()));
        }
        return "no error";
    }

    /// An archive object with this header and content.
    static std::string with_header(GVariant* floating, const std::string& content) {
        const VariantHandle header = own(floating);
        const gsize size = g_variant_get_size(header.get());
        std::string object(8 + size, '\0');
        for (unsigned i = 0; i < 4; ++i) {
            object[i] = static_cast<char>(size >> (24 - 8 * i) & 0xffU);
        }
        g_variant_store(header.get(), object.data() + 8);
        return object + content;
    }
    static GVariant* header(unsigned mode, const char* target) {
        return g_variant_new("(tuuuus@a(ayay))", GUINT64_TO_BE(4ULL), 0U, 0U, GUINT32_TO_BE(mode),
                             0U, target, g_variant_new_array(G_VARIANT_TYPE("(ayay)"), nullptr, 0));
    }

    CommitFixture fixture_;
    std::string commit_;
    fs::path object_;
};

TEST_F(HostileObject, ATargetWithoutANul) {
    // 41 bytes: the header of a symlink, whose target is the end of the file.
    write_file(object_, read_file(std::string(EDGEGPU_SOURCE_DIR) +
                                  "/tests/fuzz/corpus/ostree-file/target-without-nul"));
    EXPECT_EQ(refusal(), "/usr/bin/tool: malformed file object: its header is not in normal form");
}

TEST_F(HostileObject, AHeaderThatIsNotThere) {
    for (const std::size_t size : {0U, 3U, 7U, 8U, 20U}) {
        write_file(object_, with_header(header(S_IFREG | 0755U, ""), "").substr(0, size));
        EXPECT_EQ(refusal(), "/usr/bin/tool: malformed file object: it is truncated") << size;
    }
    // A sparse file of the size that its header is said to have.
    write_file(object_, "\xff\xff\xff\xf0");
    fs::resize_file(object_, 5ULL << 30U);
    EXPECT_EQ(refusal(),
              "/usr/bin/tool: malformed file object: the size of its header is out of range");
}

TEST_F(HostileObject, NeitherFileNorLink) {
    for (const unsigned mode : {S_IFDIR | 0755U, S_IFCHR | 0644U, 0644U}) {
        write_file(object_, with_header(header(mode, ""), ""));
        EXPECT_EQ(refusal(), "/usr/bin/tool: malformed file object: neither a file nor a symlink");
    }
    fs::remove(object_);
    ASSERT_EQ(::mkfifo(object_.c_str(), 0644), 0);
    EXPECT_EQ(refusal(), "/usr/bin/tool: malformed file object: not a regular file");
    fs::remove(object_);
    fs::create_symlink("/dev/zero", object_);
    EXPECT_NE(refusal(), "no error");
}

TEST_F(HostileObject, ALinkThatIsWhole) {
    write_file(object_, with_header(header(S_IFLNK | 0777U, "there"), ""));
    const auto described = open().describe("/usr/bin/tool");
    ASSERT_TRUE(described);
    EXPECT_EQ(described->type, EntryType::symlink);
    EXPECT_EQ(described->target, "there");
    EXPECT_EQ(open().read("/usr/bin/tool", 1000), std::nullopt);
}

TEST_F(HostileObject, AContentThatIsNotDeflated) {
    write_file(object_, with_header(header(S_IFREG | 0755U, ""), "\xff\xff\xff"));
    EXPECT_EQ(open().describe("/usr/bin/tool")->size, 4U);
    EXPECT_NE(error_in([&] { static_cast<void>(open().read("/usr/bin/tool", 1000)); }), "no error");
}

TEST_F(HostileObject, InTheParentOfTheRepository) {
    write_file(object_, read_file(std::string(EDGEGPU_SOURCE_DIR) +
                                  "/tests/fuzz/corpus/ostree-file/target-without-nul"));
    const fs::path child = fixture_.directory() / "child";
    const std::string made =
        test::output_of(fmt::format("ostree --repo={0} init --mode=archive && ostree --repo={0} "
                                    "config set core.parent {1}",
                                    child.string(), fixture_.repo().string()));
    const CommitView view = RepositoryView(child).open(commit_);
    EXPECT_EQ(error_in([&] { static_cast<void>(view.describe("/usr/bin/tool")); }),
              "/usr/bin/tool: malformed file object: its header is not in normal form")
        << made;
}

TEST_F(HostileObject, OfARepositoryInModeBareUser) {
    const fs::path bare = fixture_.directory() / "bare";
    int status = 0;
    const std::string made = test::output_of(
        fmt::format(
            "ostree --repo={0} init --mode=bare-user && ostree --repo={0} pull-local {1} {2}",
            bare.string(), fixture_.repo().string(), commit_),
        &status);
    ASSERT_EQ(status, 0) << made;
    const CommitView view = RepositoryView(bare).open(commit_);
    EXPECT_EQ(view.read("/usr/bin/tool", 1000), "#!/bin/sh\necho tool\n");
    EXPECT_EQ(view.describe("/bin")->target, "usr/bin");
    const fs::path object =
        bare / "objects" / object_path(view.find("/usr/bin/tool")->checksum, "file");
    // A directory, for which libostree aborts.
    const VariantHandle metadata =
        own(g_variant_new("(uuu@a(ayay))", 0U, 0U, GUINT32_TO_BE(S_IFDIR | 0755U),
                          g_variant_new_array(G_VARIANT_TYPE("(ayay)"), nullptr, 0)));
    ASSERT_EQ(::setxattr(object.c_str(), "user.ostreemeta", g_variant_get_data(metadata.get()),
                         g_variant_get_size(metadata.get()), 0),
              0);
    EXPECT_EQ(error_in([&] { static_cast<void>(view.describe("/usr/bin/tool")); }),
              "/usr/bin/tool: malformed file object: its metadata are neither a file's nor a "
              "symlink's");
}

}  // namespace
}  // namespace edgegpu
