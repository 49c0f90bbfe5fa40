#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "resolve/metadata/metadata_records.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

std::string record(const std::string& type, const std::string& href,
                   const std::string& algorithm = "sha256", std::size_t digits = 64,
                   const std::string& more = "<timestamp>1700000001</timestamp>") {
    return "<data type=\"" + type + "\"><checksum type=\"" + algorithm + "\">" +
           std::string(digits, 'a') + "</checksum><location href=\"" + href + "\"/>" + more +
           "</data>\n";
}

class MetadataRecordsOf : public testing::Test {
protected:
    MetadataRecordsOf() {
        repository_.id = "r";
        repository_.baseurls = {"https://example.invalid/r"};
        repository_.location = {"/b.toml", 3, 1};
    }
    MetadataRecords read(const std::string& records, const std::string& revision = "1700000000") {
        const fs::path path = directory_.path() / "repomd.xml";
        write_file(path, "<repomd xmlns=\"http://linux.duke.edu/metadata/repo\"><revision>" +
                             revision + "</revision>" + records + "</repomd>\n");
        return read_records(repository_, path);
    }
    template <typename Function>
    std::string failure(const Function& function) {
        try {
            (void)function();
        } catch (const Error& problem) {
            EXPECT_EQ(problem.kind(), ErrorKind::fetch);
            EXPECT_FALSE(problem.hint().empty() && problem.traces().empty());
            return problem.message();
        }
        return "no error";
    }
    std::string place(const std::string& href, const std::string& base = "") {
        const FilePlace found = file_place(repository_, "package x", base, href);
        return found.base + "|" + found.location;
    }

    test::TemporaryDirectory directory_;
    Repository repository_;
    const std::string primary_ = record("primary", "repodata/primary.xml.gz");
};

TEST_F(MetadataRecordsOf, ThePlainSpellingComesFirst) {
    const MetadataRecords records =
        read(record("group_zck", "repodata/c.xml.zck") + record("group_gz", "repodata/c.xml.gz") +
             record("group", "repodata/c.xml") + primary_);
    EXPECT_EQ(records.find(MetadataKind::comps)->type, "group");
    EXPECT_EQ(records.find(MetadataKind::primary)->href, "repodata/primary.xml.gz");
    EXPECT_EQ(records.find(MetadataKind::filelists), nullptr);
    EXPECT_EQ(records.revision_time, 1700000001);
}

TEST_F(MetadataRecordsOf, OneThatCannotBeTrustedIsPassedOverForAnother) {
    const MetadataRecords records = read(record("group", "repodata/c.xml", "md5", 32) +
                                         record("group_gz", "repodata/c.xml.gz") + primary_);
    EXPECT_EQ(records.find(MetadataKind::comps)->type, "group_gz");
}

TEST_F(MetadataRecordsOf, WhatCannotBeReadIsSaidWhenItIsAskedFor) {
    const MetadataRecords records = read(record("group_zck", "repodata/c.xml.zck") + primary_ +
                                         record("filelists", "repodata/f.xml", "md5", 32));
    EXPECT_EQ(
        failure([&] { return records.find(MetadataKind::comps); }),
        "repository 'r': its group metadata are available as zchunk (.zck) only, which edgegpu "
        "cannot read");
    EXPECT_EQ(failure([&] { return records.find(MetadataKind::filelists); }),
              "repository 'r': filelists has only an MD5 checksum, which protects nothing: it is "
              "never accepted");
}

TEST_F(MetadataRecordsOf, PrimaryMetadataMustBeThere) {
    EXPECT_EQ(failure([&] { return read(record("filelists", "f")); }),
              "repository 'r': repomd.xml lists no primary metadata");
}

TEST_F(MetadataRecordsOf, AnEncodingThatIconvMayFailToConvertDoesNotReachTheParser) {
    // librepo 1.14 dereferences a null pointer where iconv cannot go on.
    const fs::path path = directory_.path() / "repomd.xml";
    write_file(path, "<?xml version=\"1.0\" encoding=\"UTF-7\"?>\n<repomd><revision>1</revision>" +
                         primary_ + "<tags><content>\xff</content></tags></repomd>\n");
    EXPECT_EQ(failure([&] { return read_records(repository_, path); }),
              "repository 'r': its repomd.xml cannot be read: its encoding is 'UTF-7', but only "
              "UTF-8, ASCII and ISO-8859-1 are read");
}

TEST_F(MetadataRecordsOf, BytesThatAreNotOfTheEncoding) {
    const std::string tags = "<tags><content>\xff</content></tags>";
    const fs::path path = directory_.path() / "repomd.xml";
    for (const char* encoding : {"UTF-8", "US-ASCII"}) {
        write_file(path,
                   fmt::format("<?xml version=\"1.0\" encoding=\"{}\"?>\n<repomd>{}{}</repomd>",
                               encoding, primary_, tags));
        const std::string said = failure([&] { return read_records(repository_, path); });
        EXPECT_TRUE(said.starts_with("repository 'r': its repomd.xml cannot be read: Parse error"))
            << said;
    }
    write_file(path, "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n<repomd>" + primary_ + tags +
                         "</repomd>");
    EXPECT_NE(read_records(repository_, path).find(MetadataKind::primary), nullptr);
}

TEST_F(MetadataRecordsOf, SHA1NeedsPermission) {
    const std::string old = record("primary", "p.xml", "sha", 40);
    EXPECT_EQ(failure([&] { return read(old); }),
              "repository 'r': primary has only a SHA-1 checksum, which can be forged");
    repository_.allow_sha1 = true;
    EXPECT_EQ(read(old).find(MetadataKind::primary)->checksum.text(),
              "sha1:" + std::string(40, 'a'));
}

TEST_F(MetadataRecordsOf, ChecksumsOfOddTypesAndLengths) {
    for (const auto& [type, digits, text] :
         {std::tuple("sha3-256", std::size_t{64}, "has a checksum of an unknown type, 'sha3-256'"),
          std::tuple("", std::size_t{64}, "has no checksum in the metadata"),
          std::tuple("sha256", std::size_t{0}, "has no checksum in the metadata"),
          std::tuple("sha512", std::size_t{64}, "has a bad checksum in the metadata: ")}) {
        const std::string said = failure([&, type = type, digits = digits] {
            return read(record("primary", "p.xml", type, digits));
        });
        EXPECT_TRUE(said.starts_with(std::string("repository 'r': primary ") + text)) << said;
    }
    EXPECT_EQ(read(record("primary", "p.xml", "SHA512", 128)).revision_time, 1700000001);
}

TEST_F(MetadataRecordsOf, TheTimeIsTheNewestTimestampOrTheRevision) {
    const std::string silent = record("primary", "p.xml", "sha256", 64, "");
    EXPECT_EQ(read(silent).revision_time, 1700000000);
    EXPECT_EQ(read(silent, "1.0").revision_time, 0);
    EXPECT_EQ(read(silent, "-5").revision_time, 0);
    EXPECT_EQ(read(silent + record("other", "o.xml")).revision_time, 1700000001);
}

TEST_F(MetadataRecordsOf, PlacesOfAServer) {
    EXPECT_EQ(place("Packages/./a//b/../x.rpm"), "|Packages/a/x.rpm");
    EXPECT_EQ(place("../pool/x.rpm"), "|../pool/x.rpm");
    EXPECT_EQ(place("x.rpm", "https://other.invalid/p"), "https://other.invalid/p|x.rpm");
    EXPECT_EQ(place("http://other.invalid/p/x.rpm"), "http://other.invalid/p|x.rpm");
    for (const char* href : {"", "/etc/x.rpm", ".", "..", "a/", "a/.."}) {
        EXPECT_TRUE(failure([&] {
                        return place(href);
                    }).starts_with("repository 'r': package x has no usable location"))
            << href;
    }
    // A server's metadata name no file of this machine.
    for (const auto& [href, base] : {std::pair("file:///etc/x.rpm", ""),
                                     {"x.rpm", "file:///etc"},
                                     {"ftp://other.invalid/x.rpm", ""}}) {
        EXPECT_TRUE(
            failure([&, h = href, b = base] {
                return place(h, b);
            }).starts_with("repository 'r': package x is at a location that edgegpu does not read"))
            << href;
    }
    EXPECT_TRUE(failure([&] {
                    return place("x.rpm", "../other");
                }).starts_with("repository 'r': package x has an xml:base that is not a URL"));
}

TEST_F(MetadataRecordsOf, PlacesOfThisMachine) {
    repository_.baseurls = {"file:///srv/r"};
    EXPECT_EQ(place("a/../x.rpm"), "|x.rpm");
    EXPECT_EQ(place("x.rpm", "file:///srv/p"), "file:///srv/p|x.rpm");
    for (const auto& [href, base] :
         {std::pair("../x.rpm", ""), {"a/../../x.rpm", ""}, {"../x.rpm", "file:///srv/p"}}) {
        EXPECT_TRUE(failure([&, h = href, b = base] {
                        return place(h, b);
                    }).starts_with("repository 'r': package x is outside of the repository"))
            << href;
    }
}

}  // namespace
}  // namespace edgegpu
