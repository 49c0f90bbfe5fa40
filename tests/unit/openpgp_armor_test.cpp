#include "openpgp/armor.hpp"

#include <gtest/gtest.h>

namespace edgegpu {
namespace {

TEST(Armor, ReadsBlocksWithTextAround) {
    const std::string block =
        "-----BEGIN PGP MESSAGE-----\nVersion: 1\n\naGVsbG8=\n-----END PGP "
        "MESSAGE-----\n";
    const auto blocks = read_armor("Dear all,\n" + block + "and\r\n" + block + "bye");
    ASSERT_EQ(blocks.size(), 2U);
    for (const ArmorBlock& found : blocks) {
        EXPECT_EQ(found.type, "MESSAGE");
        EXPECT_EQ(found.data, "hello");
        EXPECT_EQ(found.problem, "");
    }
}

TEST(Armor, TakesOddLines) {
    const auto read = [](const std::string& text) {
        const auto blocks = read_armor(text);
        return blocks.size() == 1 && blocks[0].problem.empty() ? blocks[0].data : "";
    };
    EXPECT_EQ(read("-----BEGIN PGP X-----\r\n\r\naGVs\r\nbG8=\r\n-----END PGP X-----\r\n"),
              "hello");
    EXPECT_EQ(read("  -----BEGIN PGP X-----\n  \n  aGVsbG8\n  -----END PGP X-----"), "hello");
    EXPECT_EQ(read("-----BEGIN PGP X-----\nVersion: 1\naGVsbG8=\n-----END PGP X-----"), "hello");
    EXPECT_EQ(read("-----BEGIN PGP X-----\naGVsbG8=\n-----END PGP X-----"), "hello");
}

TEST(Armor, SaysWhatIsWrong) {
    const auto problem = [](const std::string& text) { return read_armor(text).at(0).problem; };
    EXPECT_EQ(problem("-----BEGIN PGP X-----\n\naGVsbG8=\n"), "its end is missing");
    EXPECT_EQ(problem("-----BEGIN PGP X-----\n\naGVsbG8=\n-----BEGIN PGP X-----\n"),
              "its end is missing");
    EXPECT_EQ(problem("-----BEGIN PGP X-----\n\naGV*bG8=\n-----END PGP X-----\n"),
              "it has characters that are not base64");
    EXPECT_EQ(problem("-----BEGIN PGP X-----\n\n-----END PGP X-----\n"), "it is empty");
    EXPECT_EQ(problem("-----BEGIN PGP X-----\n\naGVsbG8=\n=AAAA\n-----END PGP X-----\n"),
              "its checksum does not match");
    EXPECT_TRUE(read_armor("").empty());
    EXPECT_TRUE(read_armor("-----BEGIN PGP ").empty());
    EXPECT_TRUE(read_armor("-----BEGIN PGP -----\n").empty());
}

}  // namespace
}  // namespace edgegpu
