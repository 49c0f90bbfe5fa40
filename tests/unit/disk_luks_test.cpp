#include "disk/luks.hpp"

#include <array>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <sys/stat.h>

#include "disk/partitions.hpp"
#include "support/commit_fixture.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/handles.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t luks_offset = mib;
constexpr std::uint64_t luks_block = 4096;
const std::string luks_uuid = "d9d1e345-9100-863e-a8df-7e85cffab13f";

/// A disk with an ext4 file system that leaves room for a LUKS header in front of it.
struct LuksFixture {
    LuksFixture() {
        format.offset = luks_offset + luks_header_size;
        format.size = 64 * mib;
        format.uuid = "bdc78ee4-d1d6-8c77-832c-98a116abacc6";
        format.hash_seed = format.uuid;
        format.time = 1700000000;
        make_sparse_file(disk(), format.offset + format.size + mib);
        Ext4Writer writer(commit.ctx(), disk(), format);
        bool first = true;
        (void)writer.add_file(writer.root(), "file", 6,
                              [&](char* buffer, std::size_t) {
                                  const std::size_t count = first ? 6 : 0;
                                  std::string("secret").copy(buffer, count);
                                  first = false;
                                  return count;
                              },
                              {});
        writer.finish();
    }
    [[nodiscard]] fs::path disk() const { return commit.directory() / "disk"; }
    /// What is behind `offset`, where a partition would begin.
    [[nodiscard]] fs::path partition() const {
        fs::path path = commit.directory() / "partition";
        write_file(path, read_file(disk()).substr(luks_offset));
        return path;
    }
    [[nodiscard]] int cryptsetup(const std::string& passphrase,
                                 const std::string& arguments) const {
        write_file(commit.directory() / "passphrase", passphrase);
        int status = 0;
        (void)test::output_of("PATH=$PATH:/usr/sbin:/sbin cryptsetup " + arguments +
                                  " --key-file " + (commit.directory() / "passphrase").string() +
                                  " " + partition().string() + " 2>&1",
                              &status);
        return status;
    }

    test::CommitFixture commit;
    Ext4Format format;
};

/// aes-xts-plain64 backwards, one block.
std::string decrypted(const std::string& block, std::uint64_t number, const std::string& key) {
    const Handle<EVP_CIPHER_CTX, EVP_CIPHER_CTX_free> context(EVP_CIPHER_CTX_new());
    std::array<unsigned char, 16> tweak{};
    const std::uint64_t sector = number * 8;
    for (std::size_t i = 0; i < 8; ++i) {
        tweak[i] = static_cast<unsigned char>(sector >> (8 * i));
    }
    std::string plain(block.size(), '\0');
    int length = 0;
    EXPECT_EQ(EVP_DecryptInit_ex(context.get(), EVP_aes_256_xts(), nullptr,
                                 reinterpret_cast<const unsigned char*>(key.data()), tweak.data()),
              1);
    EXPECT_EQ(EVP_DecryptUpdate(context.get(), reinterpret_cast<unsigned char*>(plain.data()),
                                &length, reinterpret_cast<const unsigned char*>(block.data()),
                                static_cast<int>(block.size())),
              1);
    return plain;
}

TEST(Luks, TheEmptyPassphraseAloneUnlocksIt) {
    const LuksFixture fixture;
    encrypt_ext4(fixture.commit.ctx(), fixture.disk(), fixture.format, luks_uuid);
    EXPECT_EQ(fixture.cryptsetup("", "open --test-passphrase"), 0);
    // 2: no key slot has this passphrase.
    EXPECT_EQ(fixture.cryptsetup("x", "open --test-passphrase"), 2);
    int status = 0;
    const std::string uuid = test::output_of(
        "PATH=$PATH:/usr/sbin:/sbin cryptsetup luksUUID " + fixture.partition().string(), &status);
    EXPECT_EQ(uuid, luks_uuid + "\n");
}

TEST(Luks, WhatTheFileSystemUsesIsEncryptedAndTheRestAHole) {
    const LuksFixture fixture;
    const std::string plain =
        read_file(fixture.disk()).substr(fixture.format.offset, fixture.format.size);
    struct stat before {};
    ASSERT_EQ(::stat(fixture.disk().c_str(), &before), 0);
    encrypt_ext4(fixture.commit.ctx(), fixture.disk(), fixture.format, luks_uuid);
    struct stat after {};
    ASSERT_EQ(::stat(fixture.disk().c_str(), &after), 0);
    EXPECT_EQ(after.st_size, before.st_size);
    EXPECT_LT(after.st_blocks * 512, 32 * static_cast<std::int64_t>(mib));
    const std::string disk = read_file(fixture.disk());
    EXPECT_EQ(disk.find("secret"), std::string::npos);
    EXPECT_EQ(disk.substr(0, luks_offset), std::string(luks_offset, '\0'));
    const fs::path key_file = fixture.commit.directory() / "key";
    ASSERT_EQ(fixture.cryptsetup("", "luksDump --batch-mode --dump-volume-key --volume-key-file " +
                                         key_file.string()),
              0);
    const std::string key = read_file(key_file);
    ASSERT_EQ(key.size(), 64U);
    const std::string hole(luks_block, '\0');
    std::uint64_t encrypted = 0;
    for (std::uint64_t block = 0; block < plain.size() / luks_block; ++block) {
        const std::string original = plain.substr(block * luks_block, luks_block);
        const std::string found =
            disk.substr(fixture.format.offset + block * luks_block, luks_block);
        if (found == hole) {
            ASSERT_EQ(original, hole) << "block " << block;
            continue;
        }
        ++encrypted;
        ASSERT_EQ(decrypted(found, block, key), original) << "block " << block;
    }
    // The inode tables and the journal are zero, and used.
    EXPECT_GT(encrypted, 1000U);
}

TEST(Luks, EveryDiskHasAKeyOfItsOwnAndNothingStaysBesideIt) {
    const LuksFixture one;
    const LuksFixture two;
    encrypt_ext4(one.commit.ctx(), one.disk(), one.format, luks_uuid);
    encrypt_ext4(two.commit.ctx(), two.disk(), two.format, luks_uuid);
    EXPECT_NE(read_file(one.disk()).substr(one.format.offset, luks_block),
              read_file(two.disk()).substr(two.format.offset, luks_block));
    EXPECT_FALSE(fs::exists(one.disk().string() + ".luks"));
}

TEST(Luks, AFailureOfCryptsetupIsReportedAndLeavesNothingBesideTheDisk) {
    const LuksFixture fixture;
    try {
        encrypt_ext4(fixture.commit.ctx(), fixture.disk(), fixture.format, "no UUID");
        FAIL() << "no error";
    } catch (const Error& caught) {
        EXPECT_NE(caught.message().find("cryptsetup cannot make the header"), std::string::npos)
            << caught.message();
    }
    EXPECT_FALSE(fs::exists(fixture.disk().string() + ".luks"));
}

TEST(Luks, TheInitramfsIsToldOfTpmAndEmptyPassphrase) {
    const std::vector<std::string> arguments = luks_arguments("U");
    ASSERT_EQ(arguments.size(), 2U);
    EXPECT_EQ(arguments[0], "rd.luks.name=U=root");
    EXPECT_EQ(arguments[1], "rd.luks.options=U=tpm2-device=auto,try-empty-password=yes");
}

}  // namespace
}  // namespace edgegpu
