#include "encapsulate/encapsulate.hpp"

#include <algorithm>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "commit/object.hpp"
#include "encapsulate/destination.hpp"
#include "support/commit_fixture.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

class Encapsulated : public testing::Test {
protected:
    Encapsulated() { fixture_.blueprint.architecture = "x86_64"; }

    [[nodiscard]] CommitView open() const {
        return RepositoryView(fixture_.repo()).open(fixture_.blueprint.ostree.ref);
    }
    [[nodiscard]] fs::path layout(const char* name = "image") const {
        return fixture_.directory() / name;
    }
    [[nodiscard]] EncapsulatedImage write(const char* name = "image", unsigned jobs = 2) const {
        Context ctx = fixture_.ctx();
        ctx.jobs = jobs;
        return write_oci_layout(ctx, open(), {}, layout(name));
    }
    /// The message; the layout must not be there then.
    [[nodiscard]] std::string refusal() const {
        try {
            static_cast<void>(write());
        } catch (const Error& caught) {
            EXPECT_FALSE(fs::exists(layout()));
            return caught.message();
        }
        return "no error";
    }
    [[nodiscard]] fs::path object(const char* path) const {
        const auto node = open().find(path);
        return fixture_.repo() / "objects" /
               object_path(node->checksum, node->directory ? "dirtree" : "filez");
    }

    test::CommitFixture fixture_;
};

TEST_F(Encapsulated, TheSameCommitComesBack) {
    fixture_.add_directory("/var");
    fixture_.add_directory("/usr/etc/secret", 0700);
    fixture_.add_directory("/usr/lib/" + std::string(120, 'd'));
    fixture_.add_file("/usr/lib/" + std::string(120, 'd') + '/' + std::string(200, 'e'), "long");
    fixture_.add_file("/usr/lib/gr\xc3\xbc\xc3\x9f", "unicode");
    fixture_.add_link("/usr/lib/link", "../..//bin/" + std::string(150, 'f'));
    fixture_.add_file("/usr/bin/twin", "#!/bin/sh\necho tool\n", 0755);
    Entry& capable = fixture_.add_file("/usr/bin/ping", std::string(300'000, 'p'), 04755);
    capable.uid = 4'000'000'000;
    capable.gid = 3'000'000;
    capable.label = "system_u:object_r:ping_exec_t:s0";
    capable.capabilities = std::string("\x01\x00\x00\x02\x00\x20\x00\x00", 8) + std::string(12, 0);
    fixture_.tree.entries.at("/usr/bin/tool").label = "system_u:object_r:bin_t:s0";
    const Commit commit = fixture_.build();
    const EncapsulatedImage image = write();
    EXPECT_GT(image.layers.size(), 1U);
    int status = 0;
    const fs::path back = fixture_.directory() / "back";
    const std::string said = test::output_of(
        fmt::format("{0}/tests/support/ostree_container.py {1} {2} && ostree --repo={2} fsck {3}",
                    EDGEGPU_SOURCE_DIR, layout().string(), back.string(), commit.checksum),
        &status);
    EXPECT_EQ(status, 0) << said;
    EXPECT_NE(said.find(commit.checksum), std::string::npos) << said;
}

TEST_F(Encapsulated, TheSameCommitGivesTheSameBytes) {
    static_cast<void>(fixture_.build());
    const EncapsulatedImage one = write("one", 1);
    const EncapsulatedImage two = write("two", 4);
    EXPECT_EQ(one.digest, two.digest);
    EXPECT_EQ(sha256_file(layout("one") / "index.json"), sha256_file(layout("two") / "index.json"));
    write_oci_archive(fixture_.ctx(), layout("one"), layout("one.tar"));
    write_oci_archive(fixture_.ctx(), layout("two"), layout("two.tar"));
    EXPECT_EQ(sha256_file(layout("one.tar")), sha256_file(layout("two.tar")));
    int status = 0;
    const std::string said = test::output_of(
        fmt::format("skopeo inspect --raw oci-archive:{}", layout("one.tar").string()), &status);
    EXPECT_EQ(status, 0) << said;
    EXPECT_EQ(sha256_hex(said), one.digest);
}

TEST_F(Encapsulated, AnObjectThatIsDamagedEndsIt) {
    const Commit commit = fixture_.build();
    const std::string start =
        fmt::format("{}: commit {}: ", fixture_.repo().string(), commit.checksum);
    const fs::path tool = object("/usr/bin/tool");
    const std::string good = read_file(tool);
    // The same object with the content of another: as long, so that only the checksum differs.
    Entry& other = fixture_.add_file("/usr/bin/other", "#!/bin/sh\necho fool\n", 0755);
    const Commit second = fixture_.build("more");
    write_file(tool, read_file(object("/usr/bin/other")));
    EXPECT_EQ(refusal(), fmt::format("{}: commit {}: malformed object of /usr/bin/tool: it does "
                                     "not have its checksum",
                                     fixture_.repo().string(), second.checksum));
    EXPECT_EQ(other.mode, 0755U);
    // The size in the header is no part of the checksum: byte 8 of the file is its first.
    std::string longer = good;
    longer[15] = static_cast<char>(longer[15] + 1);
    write_file(tool, longer);
    EXPECT_NE(refusal().find("it does not have the size in its header"), std::string::npos);
    fs::remove(tool);
    EXPECT_NE(refusal().find("the object of /usr/bin/tool is missing"), std::string::npos);
    write_file(tool, good);
    EXPECT_EQ(refusal(), "no error");
}

TEST_F(Encapsulated, MetadataThatAreDamagedEndIt) {
    static_cast<void>(fixture_.build());
    const fs::path tree = object("/usr/lib");
    const fs::path another = object("/usr/bin");
    write_file(tree, read_file(another));
    EXPECT_NE(refusal().find("malformed object of /usr/lib: it does not have its checksum"),
              std::string::npos);
}

TEST_F(Encapsulated, ATreeWithoutEndIsRefused) {
    std::string path = "/usr/lib";
    for (int depth = 0; depth < 20; ++depth) {
        path += '/' + std::string(250, 'd');
        fixture_.add_directory(path);
    }
    static_cast<void>(fixture_.build());
    EXPECT_NE(refusal().find("its tree has paths of more than 4095 bytes"), std::string::npos);
}

TEST_F(Encapsulated, BothPlacesOfEtcAreRefused) {
    fixture_.add_directory("/etc");
    static_cast<void>(fixture_.build());
    EXPECT_NE(refusal().find("malformed object of /etc: commits have it as /usr/etc"),
              std::string::npos);
}

/// Container engines take files of these names for whiteouts, and remove others.
TEST_F(Encapsulated, NamesOfWhiteoutsAreRefused) {
    for (const char* path : {"/usr/lib/.wh.os-release", "/usr/bin/.wh..wh..opq", "/usr/.wh.lib"}) {
        test::CommitFixture& fixture = fixture_;
        fixture.add_file(path, "");
        static_cast<void>(fixture.build(path));
        EXPECT_NE(refusal().find(path), std::string::npos) << refusal();
        fixture.tree.entries.erase(path);
    }
    fixture_.add_directory("/usr/lib/.wh.d");
    static_cast<void>(fixture_.build("directory"));
    EXPECT_NE(refusal().find("/usr/lib/.wh.d"), std::string::npos) << refusal();
    fixture_.tree.entries.erase("/usr/lib/.wh.d");
    // In the repository alone, under the name of its object.
    fixture_.add_directory("/sysroot");
    fixture_.add_file("/sysroot/.wh.x", "");
    fixture_.add_file("/usr/lib/.whatever", "");
    static_cast<void>(fixture_.build("sysroot"));
    EXPECT_EQ(refusal(), "no error");
}

TEST_F(Encapsulated, WhatIsInSysrootIsInTheRepositoryAlone) {
    fixture_.add_directory("/sysroot");
    fixture_.add_directory("/sysroot/ostree");
    fixture_.add_file("/sysroot/ostree/repo", "not a repository");
    const Commit commit = fixture_.build();
    static_cast<void>(write());
    const std::string said = test::output_of(
        fmt::format("{0}/tests/support/ostree_container.py {1} {2}", EDGEGPU_SOURCE_DIR,
                    layout().string(), (fixture_.directory() / "back").string()));
    EXPECT_EQ(said, commit.checksum + "\n");
}

TEST_F(Encapsulated, NothingIsWrittenOver) {
    static_cast<void>(fixture_.build());
    write_file(layout(), "mine");
    for (const auto& text :
         {layout().string(), "oci:" + layout().string(), "oci-archive:" + layout().string()}) {
        try {
            static_cast<void>(deliver_image(fixture_.ctx(), open(), {}, parse_destination(text)));
            ADD_FAILURE() << text;
        } catch (const Error& caught) {
            EXPECT_EQ(caught.message(), layout().string() + ": it exists already");
        }
    }
    EXPECT_EQ(read_file(layout()), "mine");
    const std::string fresh = layout("fresh").string();
    static_cast<void>(
        deliver_image(fixture_.ctx(), open(), {}, parse_destination("oci:" + fresh + ":1.2")));
    EXPECT_NE(read_file(fresh + "/index.json").find(R"("1.2")"), std::string::npos);
    for (const auto& entry : fs::directory_iterator(fixture_.directory())) {
        EXPECT_FALSE(entry.path().filename().string().starts_with(".")) << entry.path();
    }
}

}  // namespace
}  // namespace edgegpu
