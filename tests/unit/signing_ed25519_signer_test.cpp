#include "signing/ed25519_signer.hpp"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support/rpm_fixture.hpp"
#include "support/base64.hpp"
#include "support/ed25519.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

using testing::HasSubstr;

class Ed25519SignerTest : public testing::Test {
protected:
    Ed25519Signer signer(const std::string& text) {
        write_file(file_, text);
        return Ed25519Signer(file_);
    }
    std::string refusal(const std::string& text) {
        write_file(file_, text);
        try {
            const Ed25519Signer read(file_);
        } catch (const Error& problem) {
            EXPECT_EQ(problem.kind(), ErrorKind::usage);
            EXPECT_EQ(problem.message().find(text.substr(0, 16)), std::string::npos) << "secret";
            return problem.message();
        }
        return "";
    }

    test::TemporaryDirectory directory_;
    std::filesystem::path file_ = directory_.path() / "key";
    const std::string seed_ = std::string(31, '\7') + "x";
};

TEST_F(Ed25519SignerTest, ReadsWhatOstreeSignAndOpensslHave) {
    const Ed25519Signer one = signer(to_base64(seed_) + "\n");
    const std::string made = one.signature("content");
    EXPECT_TRUE(verifies_ed25519({one.public_key()}, "content", made));
    EXPECT_EQ(one.signature("content"), made);
    EXPECT_EQ(signer(to_base64(seed_ + one.public_key())).signature("content"), made);
    // PKCS#8 has the seed behind a constant.
    const std::string der =
        std::string("\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20", 16) + seed_;
    const std::string pem =
        "-----BEGIN PRIVATE KEY-----\n" + to_base64(der) + "\n-----END PRIVATE KEY-----\n";
    EXPECT_EQ(signer(pem).public_key(), one.public_key());
}

TEST_F(Ed25519SignerTest, TakesNothingElse) {
    EXPECT_THAT(refusal(to_base64(seed_ + seed_)), HasSubstr("is not the public key of its first"));
    for (const std::string& text :
         {std::string("a text that is no key at all"), to_base64(seed_ + "x"),
          to_base64(seed_) + " " + to_base64(seed_),
          std::string("-----BEGIN PRIVATE KEY-----\n")}) {
        EXPECT_THAT(refusal(text), HasSubstr("not an ed25519"));
    }
    std::filesystem::remove(file_);
    EXPECT_THROW(const Ed25519Signer none(file_), Error);
}

}  // namespace
}  // namespace edgegpu
