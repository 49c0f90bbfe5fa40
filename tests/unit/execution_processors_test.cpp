#include "execution/processors.hpp"

#include <thread>

#include <gtest/gtest.h>
#include <sched.h>

namespace edgegpu {
namespace {

TEST(Processors, ThoseThatAThreadMayRunOn) {
    unsigned counted = 0;
    // A thread of its own: the set of the test's stays as it is.
    std::thread([&] {
        cpu_set_t before;
        ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
        int first = 0;
        while (!CPU_ISSET(first, &before)) {
            ++first;
        }
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(first, &one);
        ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
        counted = available_processors();
    }).join();
    EXPECT_EQ(counted, 1U);
    EXPECT_GE(available_processors(), 1U);
}

TEST(Processors, AQuotaIsRoundedUp) {
    EXPECT_EQ(processors_of_quota("200000 100000\n"), 2U);
    EXPECT_EQ(processors_of_quota("150000 100000"), 2U);
    EXPECT_EQ(processors_of_quota("1000 100000"), 1U);
    EXPECT_EQ(processors_of_quota("18446744073709551615 1"), 65536U);
}

TEST(Processors, WhatIsNoQuota) {
    for (const char* text : {"", "max 100000", "max", "200000", "200000 ", "200000 0", "2 x",
                             "-1 100000", "200000 100000 1", "99999999999999999999 1"}) {
        EXPECT_EQ(processors_of_quota(text), std::nullopt) << text;
    }
}

}  // namespace
}  // namespace edgegpu
