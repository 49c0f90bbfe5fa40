#include "support/error.hpp"

#include <filesystem>
#include <new>
#include <system_error>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edgegpu {
namespace {

TEST(Error, WhateverIsThrownIsAReason) {
    EXPECT_EQ(reason_of_failure([] {}), std::nullopt);
    EXPECT_EQ(reason_of_failure([] { throw error("no {}", "luck"); }), "no luck");
    EXPECT_EQ(reason_of_failure([] { throw std::bad_alloc(); }), "out of memory");
    const auto of_files = reason_of_failure([] {
        throw std::filesystem::filesystem_error("rename", "/a",
                                                std::make_error_code(std::errc::io_error));
    });
    EXPECT_THAT(of_files.value_or(""),
                testing::AllOf(testing::HasSubstr("/a"), testing::HasSubstr("error")));
}

}  // namespace
}  // namespace edgegpu
