#include "openpgp/key_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "openpgp/armor.hpp"
#include "openpgp/packets.hpp"
#include "support/error.hpp"

namespace edgegpu {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// An Ed25519 key of 2020-01-01 without a secret worth keeping.
constexpr const char* armored_key = R"(-----BEGIN PGP PUBLIC KEY BLOCK-----

mDMEXgvhABYJKwYBBAHaRw8BAQdAtC4q9GMCzFC/ERHTzilwbUm4h9mfbyVhaBEc
YhHbnW20EHVuaXRAZXhhbXBsZS5jb22IjwQTFggAOBYhBHdMvCCvCqHM4JtdAi0A
07y2UgeuBQJeC+EAAhsBBQsJCAcCBhUKCQgLAgQWAgMBAh4BAheAAAoJEC0A07y2
UgeuDBkA92h8zwNTsPtFkCOVAG5d0X4yhfTRg4Egfv2lMSOUFcYA/1X2OYLkClGr
zze98tDl68uR7aLaOMiJw87F1pfdXYAPuDMEXgvhABYJKwYBBAHaRw8BAQdA9z7H
m6Y/bJqbBR+yQOyBcEXyLp1KG/DzwfGkmHesyBSI9QQYFggAJhYhBHdMvCCvCqHM
4JtdAi0A07y2UgeuBQJeC+EAAhsCBQkB4TOAAIEJEC0A07y2UgeudiAEGRYIAB0W
IQSsIYV+iKoLP09fPD+ITTZ186utrwUCXgvhAAAKCRCITTZ186utrxA3AP9mMUir
RUNVlKOkJSzurXr6PA8JQms1xFnRYw3sp5jHFAEA70qIcYqu5ZQYkKiMR0KuyXy6
//8RqOQZH3PkKl0R+AvhYwD+LU4f1hki/A3Am0wjHgbQBSuskeIL3uZaCQE69Huk
o8MA/27IzmlXJ8XwXOQxuoBoYhWSxpbQDFXzn9R7wdADq9gM
=RQJb
-----END PGP PUBLIC KEY BLOCK-----
)";
constexpr const char* primary_fingerprint = "774CBC20AF0AA1CCE09B5D022D00D3BCB65207AE";
constexpr const char* subkey_fingerprint = "AC21857E88AA0B3F4F5F3C3F884D3675F3ABADAF";

std::string failure(const std::string& content) {
    try {
        (void)read_key_file(content, "KEY");
    } catch (const Error& problem) {
        EXPECT_EQ(problem.kind(), ErrorKind::fetch);
        EXPECT_NE(problem.hint(), "") << problem.message();
        return problem.message();
    }
    return "no error";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
    return text;
}

TEST(KeyFile, ReadsACertificate) {
    const auto certificates = read_key_file(armored_key, "KEY");
    ASSERT_EQ(certificates.size(), 1U);
    const Certificate& certificate = certificates[0];
    EXPECT_EQ(certificate.user_ids, std::vector<std::string>{"unit@example.com"});
    ASSERT_EQ(certificate.keys.size(), 2U);
    EXPECT_EQ(certificate.keys[0].fingerprint, primary_fingerprint);
    EXPECT_EQ(certificate.keys[1].fingerprint, subkey_fingerprint);
    EXPECT_EQ(certificate.keys[0].created, 1577836800);
    EXPECT_EQ(certificate.keys[0].expires, 0);
    EXPECT_FALSE(certificate.keys[0].can_sign);
    EXPECT_TRUE(certificate.keys[1].can_sign);
    EXPECT_EQ(certificate.keys[1].expires, 1577836800 + 365 * 86400);
    EXPECT_FALSE(certificate.keys[1].revoked);
    EXPECT_EQ(certificate.find(certificate.keys[1].id), &certificate.keys[1]);
    EXPECT_EQ(certificate.find("0000000000000000"), nullptr);
    EXPECT_EQ(certificate.text(), certificate.keys[0].id + " (unit@example.com)");
}

TEST(KeyFile, TakesOddFiles) {
    const std::string key = armored_key;
    EXPECT_EQ(read_key_file("Our key:\n" + key + "\nand\n" + key + "end", "KEY").size(), 2U);
    EXPECT_EQ(read_key_file(replaced(key, "\n", "\r\n"), "KEY").size(), 1U);
    EXPECT_EQ(read_key_file("\xef\xbb\xbf" + key, "KEY").size(), 1U);
    const std::string binary = read_armor(key)[0].data;
    EXPECT_EQ(read_key_file(binary, "KEY")[0].packets, binary);
    EXPECT_EQ(read_key_file(binary + binary, "KEY").size(), 2U);
}

TEST(KeyFile, RefusesWhatIsNoKey) {
    EXPECT_EQ(failure(""), "KEY: the file is empty");
    EXPECT_EQ(failure(" \r\n\n"), "KEY: the file is empty");
    EXPECT_EQ(failure("hello\n"), "KEY: no OpenPGP public key (version 4) in it");
    EXPECT_EQ(failure("\n<!DOCTYPE HTML><html>"), "KEY: a web page (HTML), not a key");
    EXPECT_EQ(failure("<?xml version=\"1.0\"?>\n<HTML>"), "KEY: a web page (HTML), not a key");
    EXPECT_EQ(failure(std::string((1U << 20U) + 1, 'x')),
              "KEY: 1048577 bytes exceed the limit for a key file");
    EXPECT_EQ(failure(replaced(armored_key, "PUBLIC", "PRIVATE")), "KEY: contains a private key");
    EXPECT_EQ(failure(replaced(armored_key, "PUBLIC KEY BLOCK", "SIGNATURE")),
              "KEY: contains a PGP SIGNATURE, not a key");
    EXPECT_EQ(failure("\x88\x01x"), "KEY: no OpenPGP public key (version 4) in it");
    EXPECT_EQ(failure(std::string("\x95\x00\x01x", 4)), "KEY: contains a private key");
    EXPECT_EQ(failure(std::string("\x99\x00\x09\x03", 4) + "12345678"),
              "KEY: no OpenPGP public key (version 4) in it");
}

TEST(KeyFile, RefusesDamage) {
    const std::string key = armored_key;
    EXPECT_EQ(failure(key.substr(0, key.size() / 2)),
              "KEY: a damaged OpenPGP key: its end is missing");
    std::string flipped = key;
    char& middle = flipped[key.size() / 2];
    middle = middle == 'A' ? 'B' : 'A';
    EXPECT_EQ(failure(flipped), "KEY: a damaged OpenPGP key: its checksum does not match");
    const std::string binary = read_armor(key)[0].data;
    EXPECT_THAT(failure(binary.substr(0, binary.size() - 3)),
                StartsWith("KEY: a damaged OpenPGP key: "));
    EXPECT_THAT(failure(key + replaced(key, "-----END", "---END")), HasSubstr("damaged"));
}

TEST(KeyFile, NoTruncationReadsBeyondTheEnd) {
    const std::string binary = read_armor(armored_key)[0].data;
    for (std::size_t size = 1; size < binary.size(); ++size) {
        (void)failure(binary.substr(0, size));
    }
    // Nor do wrong bytes.
    for (std::size_t i = 0; i < binary.size(); ++i) {
        std::string wrong = binary;
        wrong[i] = '\xff';
        (void)split_packets(wrong);
        try {
            (void)read_key_file(wrong, "KEY");
        } catch (const Error& problem) {
            EXPECT_EQ(problem.kind(), ErrorKind::fetch);
        }
    }
}

}  // namespace
}  // namespace edgegpu
