#include "support/ed25519.hpp"

#include <string>

#include <gtest/gtest.h>

#include "support/base64.hpp"

namespace edgegpu {
namespace {

std::string bytes(std::string_view hex) {
    std::string out;
    for (std::size_t i = 0; i < hex.size(); i += 2) {
        out += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
    }
    return out;
}

// RFC 8032, section 7.1, test 2.
const std::string public_key =
    bytes("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
const std::string signature = bytes(
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
    "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00");

TEST(Ed25519, VerifiesWhatTheStandardSays) {
    const std::string other(32, '\1');
    EXPECT_TRUE(verifies_ed25519({public_key}, "\x72", signature));
    EXPECT_TRUE(verifies_ed25519({other, public_key}, "\x72", signature));
    EXPECT_FALSE(verifies_ed25519({other}, "\x72", signature));
    EXPECT_FALSE(verifies_ed25519({}, "\x72", signature));
    EXPECT_FALSE(verifies_ed25519({public_key}, "\x73", signature));
    EXPECT_FALSE(verifies_ed25519({public_key}, "\x72", signature + "x"));
    EXPECT_FALSE(verifies_ed25519({public_key}, "\x72", ""));
    EXPECT_FALSE(verifies_ed25519({"short"}, "\x72", signature));
}

TEST(Ed25519, ReadsKeysAsLibostreeDoes) {
    const std::string line = to_base64(public_key);
    EXPECT_EQ(read_ed25519_keys(line), std::vector{public_key}) << "without a newline";
    EXPECT_EQ(read_ed25519_keys("# a comment\n\n" + line + "\nAAAA\n" + line + "\r\n"),
              (std::vector{public_key, public_key}));
    EXPECT_TRUE(read_ed25519_keys("").empty());
    EXPECT_EQ(ed25519_key_file({public_key}), line + "\n");
    const std::string pem =
        "-----BEGIN PUBLIC KEY-----\n"
        "MCowBQYDK2VwAyEAPUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=\n"
        "-----END PUBLIC KEY-----\n";
    EXPECT_EQ(read_ed25519_keys(pem), std::vector{public_key});
    EXPECT_TRUE(read_ed25519_keys("-----BEGIN PUBLIC KEY-----\nAAAA\n").empty());
}

}  // namespace
}  // namespace edgegpu
