#include "image/deflate_call.hpp"

#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <libdeflate.h>
#include <zlib.h>

#include "execution/context.hpp"
#include "support/files/file.hpp"
#include "support/handles.hpp"

namespace edgegpu {
namespace {

std::string incompressible(std::size_t size) {
    std::mt19937 random(1);
    std::string bytes(size, '\0');
    for (char& byte : bytes) {
        byte = static_cast<char>(random());
    }
    return bytes;
}

int level_of(const std::string& content) {
    return level_for(
        [&](std::uint64_t offset, std::size_t size) { return content.substr(offset, size); },
        content.size(), 9);
}

/// The stream of the pieces of these sizes; what is left is the last one.
std::string joined(const std::string& content, const std::vector<std::size_t>& sizes, int level) {
    std::string stream;
    std::size_t at = 0;
    for (const std::size_t size : sizes) {
        stream += deflate_piece(content.substr(at, size), level, false);
        at += size;
    }
    return stream + deflate_piece(content.substr(at), level, true);
}

/// With libdeflate, which takes the whole stream: all of it has to be used.
std::string inflated(const std::string& stream, std::size_t size) {
    const Handle<libdeflate_decompressor, libdeflate_free_decompressor> handle(
        libdeflate_alloc_decompressor());
    std::string content(size, '\0');
    std::size_t used = 0;
    std::size_t made = 0;
    EXPECT_EQ(libdeflate_deflate_decompress_ex(handle.get(), stream.data(), stream.size(),
                                               content.data(), size, &used, &made),
              LIBDEFLATE_SUCCESS);
    EXPECT_EQ(used, stream.size());
    EXPECT_EQ(made, size);
    return content;
}

/// Of zlib's level 6.
std::size_t size_by_zlib(const std::string& content) {
    z_stream stream{};
    EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    std::string out(deflateBound(&stream, content.size()), '\0');
    std::string in = content;
    stream.next_in = reinterpret_cast<Bytef*>(in.data());
    stream.avail_in = static_cast<uInt>(in.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return stream.total_out;
}

TEST(DeflateCall, TheUsualLevelIsAsSmallAsZlibs) {
    const std::string program = read_file("/proc/self/exe").substr(0, 4U << 20U);
    const CompressorHandle compressor = new_compressor(default_deflate_level);
    EXPECT_LE(deflate_whole(compressor.get(), program).size() * 100, size_by_zlib(program) * 101);
    const std::string pieces =
        joined(program, {1U << 20U, 1U << 20U, 1U << 20U}, default_deflate_level);
    EXPECT_LE(pieces.size() * 100, size_by_zlib(program) * 101);
}

TEST(DeflateCall, PiecesMakeOneStream) {
    const std::string program = read_file("/proc/self/exe").substr(0, 3U << 20U);
    std::string mixed = incompressible(300'000) + std::string(300'000, 'x');
    for (int i = 0; i < 100'000; ++i) {
        mixed += std::to_string(i) + ' ';
    }
    for (const int level : {0, 1, 6, 9, 12}) {
        for (const std::string& content :
             {program, mixed, incompressible(200'000), std::string(500'000, '\0'), std::string("x"),
              std::string()}) {
            const std::size_t third = content.size() / 3;
            for (const auto& sizes : std::vector<std::vector<std::size_t>>{
                     {}, {third}, {third, 0, third}, {third, 1, 2, third / 2}}) {
                const std::size_t sum = std::accumulate(sizes.begin(), sizes.end(), 0UL);
                if (sum <= content.size()) {
                    EXPECT_TRUE(inflated(joined(content, sizes, level), content.size()) == content)
                        << level << ' ' << content.size() << ' ' << sizes.size();
                }
            }
        }
    }
}

/// The last block's place in its byte is another one for each size.
TEST(DeflateCall, PiecesEndAnywhereInAByte) {
    const std::string program = read_file("/proc/self/exe").substr(1U << 20U, 100'000);
    for (std::size_t size = 1; size < 200; ++size) {
        const std::string content = program.substr(size * 100, size * 3);
        EXPECT_TRUE(inflated(joined(content, {size, size}, 9), content.size()) == content) << size;
        EXPECT_TRUE(inflated(joined(content, {size, size}, 6), content.size()) == content) << size;
    }
}

TEST(DeflateCall, WhatDoesNotShrinkIsStored) {
    const std::string random = incompressible(1U << 20U);
    EXPECT_EQ(level_of(random), 0);
    EXPECT_EQ(level_of(std::string(1U << 20U, 'x')), 9);
    std::string partly = random;
    partly.replace(partly.size() / 2, 64U << 10U, std::string(64U << 10U, 'x'));
    EXPECT_EQ(level_of(partly), 9);
    EXPECT_EQ(level_of(incompressible(100'000)), 9) << "too small for samples";
}

}  // namespace
}  // namespace edgegpu
