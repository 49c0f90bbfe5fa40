#include "support/files/decompress.hpp"

#include <fcntl.h>

#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support/rpm_fixture.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

using test::run;
using test::TemporaryDirectory;
using testing::HasSubstr;
using testing::StartsWith;

/// What a program makes of a content.
std::string packed(const char* program, const std::string& suffix, const std::string& content) {
    const TemporaryDirectory directory;
    const auto path = directory.path() / "x";
    write_file(path, content);
    run({program, path.string()});
    return read_file(path.string() + suffix);
}

std::string failure(std::string_view content, std::uint64_t limit) {
    try {
        static_cast<void>(decompress(content, limit, "x.file", ErrorKind::usage));
    } catch (const Error& caught) {
        EXPECT_EQ(caught.kind(), ErrorKind::usage);
        return caught.message();
    }
    return "";
}

class Decompress : public testing::TestWithParam<std::pair<const char*, const char*>> {
protected:
    static std::string compressed(const std::string& content) {
        return packed(GetParam().first, GetParam().second, content);
    }
};

TEST_P(Decompress, GivesBackWhatWasCompressed) {
    std::string content;
    for (int i = 0; i < 100000; ++i) {
        content += std::to_string(i) + '\0';
    }
    EXPECT_EQ(decompress(compressed(content), content.size(), "x"), content);
    EXPECT_EQ(decompress(compressed(""), 0, "x"), "");
}

TEST_P(Decompress, RefusesWhatIsCutOff) {
    for (const char* content : {"some content", ""}) {
        const std::string whole = compressed(content);
        // With less it cannot be told from other content.
        constexpr std::size_t longest_magic = 10;
        for (std::size_t left = longest_magic; left < whole.size(); ++left) {
            EXPECT_THAT(failure(whole.substr(0, left), 1U << 20U),
                        StartsWith("x.file: cannot be decompressed: "))
                << left << " of " << whole.size();
        }
    }
}

TEST_P(Decompress, SeveralAreOneContent) {
    EXPECT_EQ(decompress(compressed("some ") + compressed("") + compressed("content"), 12, "x"),
              "some content");
}

TEST_P(Decompress, OnlyTheOuterLayerIsTakenOff) {
    const std::string once = compressed("some content");
    EXPECT_EQ(decompress(compressed(once), once.size(), "x"), once);
}

TEST_P(Decompress, ReadsAFilePieceByPiece) {
    const TemporaryDirectory directory;
    const auto path = directory.path() / "x";
    const std::string content = std::string(70000, 'a') + std::string(70000, 'b');
    write_file(path, compressed(content));
    Decompressor file(Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), content.size(), "x");
    std::string all;
    std::string piece(999, '\0');
    while (const std::size_t got = file.read(piece)) {
        all.append(piece, 0, got);
    }
    EXPECT_TRUE(all == content) << all.size();
    EXPECT_EQ(file.read(piece), 0U);
}

TEST_P(Decompress, EndsAtItsLimit) {
    const std::string bomb = compressed(std::string(8U << 20U, '\0'));
    EXPECT_LT(bomb.size(), 64U << 10U);
    EXPECT_EQ(failure(bomb, 1U << 20U), "x.file: decompressed, it is larger than 1 MiB");
    EXPECT_EQ(failure(bomb, 8U << 20U), "");
}

INSTANTIATE_TEST_SUITE_P(Programs, Decompress,
                         testing::Values(std::pair("gzip", ".gz"), std::pair("xz", ".xz"),
                                         std::pair("zstd", ".zst"), std::pair("bzip2", ".bz2")),
                         [](const auto& info) { return std::string(info.param.first); });

TEST(DecompressZstd, AMagicNumberAlone) {
    EXPECT_THAT(failure("\x28\xb5\x2f\xfd", 1U << 20U),
                StartsWith("x.file: cannot be decompressed: "));
}

TEST(DecompressZstd, FramesThatAreSkipped) {
    // Four bytes to be skipped, with a number as pzstd writes it.
    const std::string skipped("\x50\x2a\x4d\x18\x04\0\0\0abcd", 12);
    const std::string frame = packed("zstd", ".zst", "content");
    EXPECT_EQ(decompress(skipped + frame + skipped + frame, 14, "x"), "contentcontent");
}

TEST(DecompressPlain, OtherContentIsAsItIs) {
    EXPECT_EQ(decompress("", 10, "x"), "");
    EXPECT_EQ(decompress("plain", 10, "x"), "plain");
    EXPECT_EQ(decompress("BZh9 is how it begins", 100, "x"), "BZh9 is how it begins");
    EXPECT_THAT(failure(std::string(3U << 20U, 'x'), 2U << 20U), HasSubstr("larger than 2 MiB"));
}

}  // namespace
}  // namespace edgegpu
