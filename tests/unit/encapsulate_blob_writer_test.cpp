#include "encapsulate/blob_writer.hpp"

#include <filesystem>
#include <random>
#include <string>

#include <gtest/gtest.h>
#include <zlib.h>

#include "support/files/digest.hpp"
#include "support/files/file.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

/// By zlib, which stops at the end of the first member: that has to be the end of the file.
std::string unpacked(std::string packed, std::size_t size) {
    z_stream stream{};
    EXPECT_EQ(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
    std::string content(size + 1, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = reinterpret_cast<Bytef*>(content.data());
    stream.avail_out = static_cast<uInt>(content.size());
    EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
    EXPECT_EQ(stream.avail_in, 0U);
    content.resize(stream.total_out);
    inflateEnd(&stream);
    return content;
}

/// An archive's bytes: what shrinks, and what does not.
std::string mixed(std::size_t size) {
    std::mt19937 random(1);
    std::string bytes;
    while (bytes.size() < size) {
        bytes += bytes.size() / 700'000 % 2 == 0 ? std::to_string(bytes.size())
                                                 : std::string(1, static_cast<char>(random()));
    }
    bytes.resize(size);
    return bytes;
}

LayerBlob written(const fs::path& blobs, const std::string& content, std::size_t at_once) {
    BlobWriter blob(blobs, "unfinished");
    for (std::size_t at = 0; at < content.size(); at += at_once) {
        blob.write(std::string_view(content).substr(at, at_once));
    }
    return blob.finish();
}

TEST(BlobWriter, OneMemberOfGzipWhateverTheSize) {
    const test::TemporaryDirectory directory;
    for (const std::size_t size :
         {0UL, 1UL, (1UL << 20U) - 1, 1UL << 20U, (1UL << 20U) + 1, 2UL << 20U, 5'000'000UL}) {
        const std::string content = mixed(size);
        const LayerBlob blob = written(directory.path(), content, 3'000'000);
        const std::string packed = read_file(directory.path() / blob.digest);
        EXPECT_TRUE(unpacked(packed, size) == content) << size;
        EXPECT_EQ(blob.digest, sha256_hex(packed));
        EXPECT_EQ(blob.diff_id, sha256_hex(content));
        EXPECT_EQ(blob.size, packed.size());
        EXPECT_EQ(blob.unpacked, size);
        EXPECT_EQ(packed.substr(0, 10), std::string("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10));
        EXPECT_FALSE(fs::exists(directory.path() / "unfinished"));
    }
}

TEST(BlobWriter, TheSameBytesHoweverTheyArrive) {
    const test::TemporaryDirectory directory;
    const std::string content = mixed(3'000'000);
    const std::string digest = written(directory.path(), content, content.size()).digest;
    for (const std::size_t at_once : {4097UL, 1UL << 20U, 1'500'000UL}) {
        EXPECT_EQ(written(directory.path(), content, at_once).digest, digest) << at_once;
    }
}

TEST(BlobWriter, NothingIsLeftOfAnUnfinishedLayer) {
    const test::TemporaryDirectory directory;
    BlobWriter(directory.path(), "unfinished").write(mixed(2'000'000));
    EXPECT_TRUE(fs::is_empty(directory.path()));
}

}  // namespace
}  // namespace edgegpu
