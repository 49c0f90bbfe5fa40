#include "image/deflate.hpp"

#include <filesystem>
#include <fstream>
#include <random>

#include <gtest/gtest.h>
#include <zlib.h>

#include "commit/commit.hpp"
#include "support/commit_fixture.hpp"
#include "support/error.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using test::CommitFixture;

std::string inflate_raw(const std::string& stream, std::size_t size) {
    z_stream z{};
    if (::inflateInit2(&z, -MAX_WBITS) != Z_OK) {
        return "inflateInit2 failed";
    }
    std::string out(size + 1, '\0');
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(stream.data()));
    z.avail_in = static_cast<uInt>(stream.size());
    z.next_out = reinterpret_cast<Bytef*>(out.data());
    z.avail_out = static_cast<uInt>(out.size());
    const int result = ::inflate(&z, Z_FINISH);
    out.resize(z.total_out);
    const bool all_read = z.avail_in == 0;
    ::inflateEnd(&z);
    return result == Z_STREAM_END && all_read ? out : "inflate failed";
}

std::string noise(std::size_t size) {
    std::mt19937_64 random(42);
    std::string bytes(size, '\0');
    for (char& byte : bytes) {
        byte = static_cast<char>(random());
    }
    return bytes;
}

std::string text(std::size_t size) {
    std::string lines;
    for (unsigned i = 0; lines.size() < size; ++i) {
        lines += fmt::format("line {} of a text that compresses\n", i * i);
    }
    lines.resize(size);
    return lines;
}

std::string stream_of(DeflateStreams& streams, const Entry& entry) {
    std::string stream;
    EXPECT_TRUE(streams.read(entry, [&](std::string_view piece) { stream += piece; }));
    return stream;
}

void expect_round_trip(const std::string& content) {
    CommitFixture fixture;
    const Entry entry = fixture.add_file("/usr/lib/f", content);
    DeflateStreams streams(fixture.ctx());
    EXPECT_TRUE(inflate_raw(stream_of(streams, entry), content.size()) == content)
        << content.size() << " bytes";
}

TEST(Deflate, StreamsInflateToTheContent) {
    for (const std::size_t size : {0U, 1U, 8191U, 8192U, 300000U}) {
        expect_round_trip(text(size));
        expect_round_trip(noise(size));
    }
}

TEST(Deflate, LargeContentIsMadeOfPieces) {
    expect_round_trip(text((32UL << 20U) + 12345));
    expect_round_trip(noise((36UL << 20U)));
}

TEST(Deflate, CompressedDataIsStored) {
    CommitFixture fixture;
    const Entry entry = fixture.add_file("/usr/lib/f", noise(1000000));
    DeflateStreams streams(fixture.ctx());
    const std::string stream = stream_of(streams, entry);
    EXPECT_LT(stream.size(), 1001000U);
    EXPECT_NE(stream.find(noise(1000)), std::string::npos);
}

TEST(Deflate, StreamsAreKeptAndTornOnesMadeAgain) {
    CommitFixture fixture;
    const std::string content = text(100000);
    const Entry entry = fixture.add_file("/usr/lib/f", content);
    deflate_contents(fixture.ctx(), fixture.tree.entries);
    const fs::path kept =
        fixture.ctx().cache / "deflate" / entry.digest.substr(0, 2) / entry.digest;
    ASSERT_TRUE(fs::exists(kept));
    EXPECT_EQ(fs::status(kept).permissions(), fs::perms(0644));
    DeflateStreams streams(fixture.ctx());
    EXPECT_TRUE(streams.has(entry));
    const std::string whole = stream_of(streams, entry);

    fs::resize_file(kept, fs::file_size(kept) / 2);
    EXPECT_FALSE(streams.read(entry, [](std::string_view) {}));
    EXPECT_FALSE(streams.has(entry));
    EXPECT_TRUE(stream_of(streams, entry) == whole);

    std::fstream(kept, std::ios::in | std::ios::out | std::ios::binary).seekp(100) << "damage";
    EXPECT_FALSE(streams.read(entry, [](std::string_view) {}));
    EXPECT_TRUE(stream_of(streams, entry) == whole);
}

TEST(Deflate, EachLevelHasItsOwnStreams) {
    CommitFixture fixture;
    const std::string content = text(100000);
    const Entry entry = fixture.add_file("/usr/lib/f", content);
    std::size_t before = content.size();
    for (const int level : {1, 6, 12}) {
        Context ctx = fixture.ctx();
        ctx.deflate_level = level;
        DeflateStreams streams(ctx);
        EXPECT_FALSE(streams.has(entry)) << level;
        const std::string stream = stream_of(streams, entry);
        EXPECT_TRUE(streams.has(entry)) << level;
        EXPECT_TRUE(inflate_raw(stream, content.size()) == content) << level;
        EXPECT_LT(stream.size(), before) << level;
        before = stream.size();
    }
}

TEST(Deflate, LargeContentHasALevelToo) {
    CommitFixture fixture;
    const std::string content = text((33UL << 20U));
    const Entry entry = fixture.add_file("/usr/lib/f", content);
    std::vector<std::size_t> sizes;
    for (const int level : {1, 12}) {
        Context ctx = fixture.ctx();
        ctx.deflate_level = level;
        DeflateStreams streams(ctx);
        const std::string stream = stream_of(streams, entry);
        EXPECT_TRUE(inflate_raw(stream, content.size()) == content) << level;
        sizes.push_back(stream.size());
    }
    EXPECT_LT(sizes[1], sizes[0]);
}

TEST(Deflate, ChangedContentIsAnError) {
    CommitFixture fixture;
    const Entry entry = fixture.add_file("/usr/lib/f", text(20000));
    std::ofstream(entry.content, std::ios::binary) << text(19999) << '!';
    EXPECT_THROW(deflate_contents(fixture.ctx(), fixture.tree.entries), Error);
}

}  // namespace
}  // namespace edgegpu
