#include "resolve/metadata/metadata_file.hpp"

#include <array>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support/rpm_fixture.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using test::run;
using testing::HasSubstr;
using testing::StartsWith;

class MetadataFile : public testing::Test {
protected:
    fs::path put(const std::string& name, const std::string& content) {
        fs::path path = directory_.path() / name;
        write_file(path, content);
        return path;
    }
    /// What `program` makes of `content`.
    std::string packed(const char* program, const std::string& suffix, const std::string& content) {
        const fs::path path = put("packed", content);
        run({program, path.string()});
        std::string result = read_file(path.string() + suffix);
        fs::remove(path.string() + suffix);
        return result;
    }
    /// All that a C library would read.
    static std::string drain(const MetadataStream& stream) {
        std::string all;
        std::array<char, 8192> buffer{};
        while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), stream.get())) {
            all.append(buffer.data(), got);
        }
        return all;
    }
    /// The refusal of a file of that name, when it is opened or after it has been read.
    std::string refusal(const std::string& name, const std::string& content,
                        std::uint64_t open_size = 0) {
        const fs::path path = put(name, content);
        try {
            const MetadataStream stream("r", path, open_size);
            static_cast<void>(drain(stream));
            stream.check();
        } catch (const Error& problem) {
            EXPECT_EQ(problem.kind(), ErrorKind::fetch);
            return problem.message();
        }
        return "";
    }

    test::TemporaryDirectory directory_;
    /// Longer than what is looked at before it is handed on, and than one block of a filter.
    const std::string xml_ = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<metadata>" +
                             std::string(300000, 'x') + "</metadata>\n";
};

TEST_F(MetadataFile, EveryCompressionIsReadUnderAnyName) {
    for (const auto& [program, suffix] : {std::pair("gzip", ".gz"), std::pair("xz", ".xz"),
                                          std::pair("zstd", ".zst"), std::pair("bzip2", ".bz2")}) {
        const std::string content = packed(program, suffix, xml_);
        for (const char* name : {"primary.xml", "primary.xml.gz", "primary.xml.zst"}) {
            const MetadataStream stream("r", put(name, content), xml_.size());
            EXPECT_TRUE(drain(stream) == xml_) << program << " as " << name;
            stream.check();
        }
    }
    const MetadataStream plain("r", put("primary.xml.gz", xml_), 0);
    EXPECT_TRUE(drain(plain) == xml_);
    const MetadataStream empty("r", put("primary.xml", ""), 0);
    EXPECT_EQ(drain(empty), "");
    empty.check();
}

TEST_F(MetadataFile, AMagicNumberAloneIsRefused) {
    // libsolv 0.7.23 never comes to the end of this.
    EXPECT_THAT(refusal("primary.xml.zst", "\x28\xb5\x2f\xfd"),
                StartsWith("repository 'r': primary.xml.zst: cannot be decompressed: "));
}

TEST_F(MetadataFile, ATruncatedFileIsRefusedWhereItEnds) {
    const std::string whole = packed("zstd", ".zst", xml_);
    const fs::path path = put("primary.xml.zst", whole.substr(0, whole.size() - 1));
    EXPECT_THAT(refusal("primary.xml.zst", whole.substr(0, whole.size() - 1)),
                StartsWith("repository 'r': primary.xml.zst: cannot be decompressed: "));
    // Its XML is whole, so that a parser has nothing to complain about.
    const std::string damaged = packed("gzip", ".gz", xml_) + packed("gzip", ".gz", "\n");
    EXPECT_THAT(refusal("primary.xml.gz", damaged.substr(0, damaged.size() - 1)),
                StartsWith("repository 'r': primary.xml.gz: cannot be decompressed: "));
}

TEST_F(MetadataFile, WhatIsNotXMLIsRefused) {
    constexpr const char* said =
        "repository 'r': primary.xml.gz cannot be read: it is not XML in UTF-8";
    EXPECT_EQ(refusal("primary.xml.gz", "Not Found"), said);
    EXPECT_EQ(refusal("primary.xml.gz", "\x1f"), said);
    // Only its outer layer is taken off.
    EXPECT_EQ(refusal("primary.xml.gz", packed("gzip", ".gz", packed("gzip", ".gz", xml_))), said);
    EXPECT_EQ(refusal("updateinfo.xml", "<?xml version=\"1.0\" encoding=\"UTF-7\"?><updates/>"),
              "repository 'r': updateinfo.xml cannot be read: its encoding is 'UTF-7', but only "
              "UTF-8, ASCII and ISO-8859-1 are read");
    EXPECT_EQ(refusal("primary.xml.zck", std::string("\0ZCK1rest", 9)),
              "repository 'r': primary.xml.zck is a zchunk file, which edgegpu cannot read");
}

TEST_F(MetadataFile, NoneIsLargerThanRepomdXmlDeclares) {
    const std::string content = packed("gzip", ".gz", xml_);
    EXPECT_EQ(refusal("primary.xml.gz", content, xml_.size()), "");
    EXPECT_EQ(refusal("primary.xml.gz", content, xml_.size() - 1),
              fmt::format("repository 'r': primary.xml.gz: decompressed, it is larger than {} "
                          "bytes, its open-size in repomd.xml",
                          xml_.size() - 1));
    EXPECT_THAT(refusal("primary.xml", xml_, 2000), HasSubstr("larger than 2000 bytes"));
    // Whatever repomd.xml declares, nothing honest is packed like this.
    EXPECT_THAT(refusal("primary.xml.gz",
                        packed("gzip", ".gz", xml_ + std::string(30U << 20U, ' ')), 1U << 31U),
                HasSubstr("which is too much for 30 KiB of compressed data"));
    EXPECT_THROW(static_cast<void>(read_metadata_file("r", put("comps.xml", "0123456789"), 9)),
                 Error);
}

TEST_F(MetadataFile, WhatCannotBeOpenedIsNamed) {
    EXPECT_THROW(MetadataStream("r", directory_.path() / "missing.xml", 0), Error);
    EXPECT_THROW(MetadataStream("r", directory_.path(), 0), Error);
}

TEST_F(MetadataFile, OthersAreReadIntoMemory) {
    EXPECT_EQ(read_metadata_file("r", put("modules.yaml", "document: x\n"), 0), "document: x\n");
    EXPECT_EQ(read_metadata_file("r", put("modules.yaml", packed("gzip", ".gz", "x: y\n")), 5),
              "x: y\n");
    try {
        static_cast<void>(read_metadata_file(
            "r", put("modules.yaml.gz", packed("gzip", ".gz", std::string(257U << 20U, '\n'))), 0));
        FAIL();
    } catch (const Error& problem) {
        EXPECT_EQ(problem.kind(), ErrorKind::fetch);
        EXPECT_THAT(problem.message(), HasSubstr("larger than "));
    }
}

}  // namespace
}  // namespace edgegpu
