#include "commit/deflate_level.hpp"

#include <gtest/gtest.h>

#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

class DeflateLevel : public ::testing::Test {
protected:
    /// The level for a repository with this configuration, or the error.
    [[nodiscard]] std::string level_with(const std::string& config) const {
        write_file(repo_.path() / "config", config);
        try {
            return std::to_string(deflate_level(repo_.path(), Compression::usual));
        } catch (const Error& failure) {
            return failure.message();
        }
    }
    test::TemporaryDirectory repo_;
};

TEST_F(DeflateLevel, IsTheRepositorysUnlessAskedFor) {
    EXPECT_EQ(deflate_level(repo_.path() / "absent", Compression::usual), 6);
    EXPECT_EQ(level_with("[core]\nmode=archive-z2\n"), "6");
    EXPECT_EQ(level_with("[core]\nmode=archive-z2\n[archive]\nzlib-level=9\n"), "9");
    EXPECT_EQ(deflate_level(repo_.path(), Compression::fast), 1);
    EXPECT_EQ(deflate_level(repo_.path(), Compression::best), 12);
}

TEST_F(DeflateLevel, AnythingElseIsAnError) {
    for (const char* level : {"0", "10", "-1", "", "six", "6 ", "99999999999999999999"}) {
        const std::string said = level_with(std::string("[archive]\nzlib-level=") + level + "\n");
        EXPECT_NE(said.find("config: zlib-level in [archive] is \"" + std::string(level) + "\""),
                  std::string::npos)
            << level << ": " << said;
    }
    EXPECT_EQ(level_with("no key file at all"), "6");
}

TEST_F(DeflateLevel, NamesOfTheCommandLine) {
    EXPECT_EQ(parse_compression("fast"), Compression::fast);
    EXPECT_EQ(parse_compression("default"), Compression::usual);
    EXPECT_EQ(parse_compression("best"), Compression::best);
    EXPECT_FALSE(parse_compression("zstd").has_value());
}

}  // namespace
}  // namespace edgegpu
