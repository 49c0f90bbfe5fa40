#include "support/files/checksum.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

using Algorithm = ChecksumAlgorithm;

TEST(Checksum, DigestsOfAbcAreThoseOfTheStandard) {
    // FIPS 180-4's example "abc".
    EXPECT_EQ(checksum_of("abc", Algorithm::sha1).text(),
              "sha1:a9993e364706816aba3e25717850c26c9cd0d89d");
    EXPECT_EQ(checksum_of("abc", Algorithm::sha224).text(),
              "sha224:23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7");
    EXPECT_EQ(checksum_of("abc", Algorithm::sha256).text(),
              "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(checksum_of("abc", Algorithm::sha384).text(),
              "sha384:cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed"
              "8086072ba1e7cc2358baeca134c825a7");
    EXPECT_EQ(checksum_of("abc", Algorithm::sha512).text(),
              "sha512:ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
              "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f");
}

TEST(Checksum, AlgorithmsHaveTheSpellingsOfRepositories) {
    EXPECT_EQ(checksum_algorithm("sha"), Algorithm::sha1);
    EXPECT_EQ(checksum_algorithm("sha1"), Algorithm::sha1);
    EXPECT_EQ(checksum_algorithm("SHA512"), Algorithm::sha512);
    EXPECT_EQ(checksum_algorithm("sha-384"), Algorithm::sha384);
    for (const char* name : {"", "md5", "MD5", "sha3", "sha2567", "crc32", ":sha256"}) {
        EXPECT_EQ(checksum_algorithm(name), std::nullopt) << name;
    }
}

TEST(Checksum, TextIsReadBackInEitherCase) {
    for (const Algorithm algorithm : {Algorithm::sha1, Algorithm::sha224, Algorithm::sha256,
                                      Algorithm::sha384, Algorithm::sha512}) {
        const Checksum checksum = checksum_of("x", algorithm);
        EXPECT_EQ(parse_checksum(checksum.text()), checksum);
    }
    EXPECT_EQ(parse_checksum("SHA1:A9993E364706816ABA3E25717850C26C9CD0D89D"),
              checksum_of("abc", Algorithm::sha1));
}

std::string checksum_refusal(const std::string& text) {
    try {
        (void)parse_checksum(text);
    } catch (const Error& problem) {
        return problem.message();
    }
    return "accepted";
}

TEST(Checksum, WhatIsNoneIsRefusedWithTheReason) {
    const std::string forty(40, 'a');
    EXPECT_EQ(checksum_refusal("md5:d41d8cd98f00b204e9800998ecf8427e"),
              "MD5 checksums are not secure and not accepted");
    EXPECT_EQ(checksum_refusal("sha9:" + forty), "'sha9' is not a supported kind of checksum");
    EXPECT_EQ(checksum_refusal(forty),
              "'" + forty + "' is not a checksum of the form sha256:DIGITS");
    EXPECT_EQ(checksum_refusal("sha256:" + forty),
              "'" + forty + "' is not a sha256 checksum of 64 hexadecimal digits");
    const std::string no_digit = std::string(39, 'a') + "g";
    EXPECT_EQ(checksum_refusal("sha1:" + no_digit),
              "'" + no_digit + "' is not a sha1 checksum of 40 hexadecimal digits");
    EXPECT_EQ(checksum_refusal("sha1:"), "'' is not a sha1 checksum of 40 hexadecimal digits");
}

TEST(Checksum, PiecesAndFilesGiveWhatTheWholeGives) {
    const std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("checksum-test-" + std::to_string(::getpid()));
    std::string content;
    for (int i = 0; i < 100000; ++i) {
        content += std::to_string(i);
    }
    Digester digester(Algorithm::sha512);
    for (std::size_t at = 0; at < content.size(); at += 4099) {
        digester.update(std::string_view(content).substr(at, 4099));
    }
    const Checksum whole = checksum_of(content, Algorithm::sha512);
    EXPECT_EQ(digester.hex(), whole.hex);
    write_file(path, content);
    EXPECT_EQ(checksum_of_file(path, Algorithm::sha512), whole);
    std::filesystem::remove(path);
    EXPECT_THROW((void)checksum_of_file(path, Algorithm::sha512), Error);
}

}  // namespace
}  // namespace edgegpu
