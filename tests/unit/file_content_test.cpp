#include "support/files/file_content.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

std::string text_of_size(std::size_t size) {
    std::string text;
    for (std::size_t i = 0; i < size; ++i) {
        text += static_cast<char>('a' + i % 23);
    }
    return text;
}

TEST(FileContent, PiecesAreTheWholeFileOrAPartOfIt) {
    for (const std::size_t size : {0U, 1U, 262143U, 262144U, 262145U, 700000U}) {
        const std::string text = text_of_size(size);
        const Fd file = memory_file("pieces", text);
        std::string all;
        EXPECT_EQ(each_piece(file.get(), "x", [&](std::string_view piece) { all += piece; }), size);
        EXPECT_EQ(all, text);
        std::string part;
        const std::uint64_t got = each_piece(
            file.get(), "x", [&](std::string_view piece) { part += piece; }, {5, 300000});
        EXPECT_EQ(part, size > 5 ? text.substr(5, 300000) : "") << size;
        EXPECT_EQ(got, part.size());
    }
}

TEST(FileContent, WhatCannotBeReadIsAnErrorWithItsName) {
    try {
        each_piece(-1, "name", [](std::string_view) { FAIL(); });
        FAIL();
    } catch (const Error& failure) {
        EXPECT_EQ(failure.message().substr(0, 5), "name:");
    }
    EXPECT_THROW(static_cast<void>(open_to_read("/no/such/file")), Error);
}

TEST(FileContent, ReadsAndWritesAtOffsets) {
    const Fd file = memory_file("offsets", "0123456789");
    std::string buffer(6, '-');
    EXPECT_EQ(read_at(file.get(), buffer.data(), 6, 7), 3) << "the file ends";
    EXPECT_EQ(buffer, "789---");
    EXPECT_TRUE(write_at(file.get(), "abc", 12));
    EXPECT_EQ(read_file(file.get(), "offsets"), std::string("0123456789\0\0abc", 15));
    const Fd readable = open_to_read("/dev/null");
    EXPECT_FALSE(write_at(readable.get(), "x", 0));
    EXPECT_EQ(errno, EBADF);
}

}  // namespace
}  // namespace edgegpu
