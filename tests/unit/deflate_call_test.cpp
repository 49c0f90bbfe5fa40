#include "image/deflate_call.hpp"

#include <random>
#include <string>

#include <gtest/gtest.h>

#include "execution/context.hpp"
#include "support/files/file.hpp"

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

TEST(DeflateCall, TheUsualLevelIsAsSmallAsZlibs) {
    const std::string program = read_file("/proc/self/exe").substr(0, 4U << 20U);
    const CompressorHandle compressor = new_compressor(default_deflate_level);
    std::string stream(libdeflate_deflate_compress_bound(compressor.get(), program.size()), '\0');
    const std::size_t size = libdeflate_deflate_compress(
        compressor.get(), program.data(), program.size(), stream.data(), stream.size());
    const std::size_t of_zlib = deflate_piece(program, default_deflate_level, true).size();
    EXPECT_GT(size, 0U);
    EXPECT_LE(size * 100, of_zlib * 102);
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
