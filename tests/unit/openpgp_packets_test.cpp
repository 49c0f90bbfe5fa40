#include "openpgp/packets.hpp"

#include <gtest/gtest.h>

#include "support/text/text.hpp"

namespace edgegpu {
namespace {

TEST(Packets, SplitBothFormats) {
    const std::string data(
        "\x88\x02"
        "ab"
        "\xcd\x01"
        "c"
        "\x99\x00\x01"
        "d",
        11);
    const auto packets = split_packets(data);
    ASSERT_TRUE(packets);
    ASSERT_EQ(packets->size(), 3U);
    EXPECT_EQ((*packets)[0].tag, PacketTag::signature);
    EXPECT_EQ((*packets)[0].body, "ab");
    EXPECT_EQ((*packets)[1].tag, PacketTag::user_id);
    EXPECT_EQ((*packets)[1].whole, std::string_view("\xcd\x01"
                                                    "c",
                                                    3));
    EXPECT_EQ((*packets)[2].tag, PacketTag::public_key);
}

TEST(Packets, MalformedOnesAreNone) {
    for (const std::string& data : {std::string("a"), std::string("\x88"),
                                    std::string("\x88\x05"
                                                "ab"),
                                    std::string("\x8b"
                                                "ab"),
                                    std::string("\xc2\xe1"
                                                "ab"),
                                    std::string("\x9a\xff\xff\xff\xff"
                                                "a"),
                                    std::string("\xc2\xff\xff\xff\xff\xff"
                                                "a")}) {
        EXPECT_FALSE(split_packets(data)) << upper_hexadecimal(data);
    }
    EXPECT_TRUE(split_packets("")->empty());
}

TEST(Packets, SignaturesOfVersion3) {
    const std::string body(
        "\x03\x05\x00\x5e\x0b\xe1\x00"
        "ABCDEFGH"
        "\x01\x08"
        "..mpi..",
        24);
    const auto signature = read_signature_packet(body);
    ASSERT_TRUE(signature);
    EXPECT_EQ(signature->issuer, "4142434445464748");
    EXPECT_EQ(signature->made, 1577836800);
    EXPECT_EQ(signature->digest_algorithm, 8U);
    EXPECT_FALSE(read_signature_packet(body.substr(0, 10)));
    EXPECT_FALSE(read_signature_packet(""));
    EXPECT_FALSE(
        read_signature_packet("\x07"
                              "abcdefghijklmnop"));
}

TEST(Packets, LyingSubpacketsAreRefused) {
    const auto with = [](const std::string& hashed) {
        return std::string("\x04\x00\x01\x08", 4) + std::string(1, '\0') +
               static_cast<char>(hashed.size()) + hashed + std::string(2, '\0') + "digest";
    };
    EXPECT_TRUE(read_signature_packet(with(std::string("\x02\x1b\x02", 3))));
    EXPECT_FALSE(read_signature_packet(with(std::string("\x00", 1))));
    EXPECT_FALSE(read_signature_packet(with("\x05\x02")));
    EXPECT_FALSE(read_signature_packet(with("\xff\xff\xff\xff\xff\x02")));
    EXPECT_EQ(read_signature_packet(with("\x02\x1b\x02"))->key_flags, 2U);
}

TEST(Packets, SignaturesThatNameTwoKeysAreRefused) {
    const auto subpackets = [](const std::string& hashed, const std::string& added) {
        const auto sized = [](const std::string& area) {
            return std::string(1, '\0') + static_cast<char>(area.size()) + area;
        };
        return std::string("\x04\x00\x01\x08", 4) + sized(hashed) + sized(added) + "digest";
    };
    const std::string first =
        "\x09\x10"
        "ABCDEFGH";
    const std::string second =
        "\x09\x10"
        "abcdefgh";
    const std::string fingerprint =
        "\x16\x21\x04"
        "____________"
        "ABCDEFGH";
    EXPECT_EQ(read_signature_packet(subpackets(fingerprint, first))->issuer, "4142434445464748");
    EXPECT_TRUE(read_signature_packet(subpackets(first, first)));
    EXPECT_FALSE(read_signature_packet(subpackets(first, second)));
    EXPECT_FALSE(read_signature_packet(subpackets(fingerprint, second)));
    EXPECT_FALSE(read_signature_packet(subpackets(fingerprint, first + second)));
    const std::string made =
        "\x05\x02"
        "\x01\x01\x01\x01";
    EXPECT_TRUE(read_signature_packet(subpackets(made + made, first)));
    EXPECT_FALSE(read_signature_packet(subpackets(made + "\x05\x02"
                                                         "\x01\x01\x01\x02",
                                                  first)));
}

TEST(Packets, WeakDigests) {
    EXPECT_TRUE(is_weak_digest(1));
    EXPECT_TRUE(is_weak_digest(2));
    EXPECT_FALSE(is_weak_digest(8));
    EXPECT_EQ(digest_name(2), "SHA-1");
    EXPECT_EQ(digest_name(77), "digest 77");
}

}  // namespace
}  // namespace edgegpu
