#include "execution/child_call.hpp"

#include <cstdlib>
#include <new>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/error.hpp"

namespace edgegpu {
namespace {

using End = ChildCall::End;

constexpr std::uint64_t mebibyte = 1U << 20U;
const ChildLimits small_limits{64 * mebibyte, std::chrono::seconds(1)};

TEST(ChildCall, ReturnsWhatTheCallReturns) {
    int here = 0;
    const ChildCall call = call_in_child(small_limits, [&] {
        here = 1;
        return std::string(3 * mebibyte, 'x') + std::string("\0y", 2);
    });
    EXPECT_EQ(call.end, End::returned);
    EXPECT_EQ(call.result, std::string(3 * mebibyte, 'x') + std::string("\0y", 2));
    EXPECT_EQ(here, 0);
}

TEST(ChildCall, PassesOnAnError) {
    const ChildCall call = call_in_child(
        small_limits, []() -> std::string { throw error("no {}", "policy").hinted("make one"); });
    EXPECT_EQ(call.end, End::refused);
    EXPECT_EQ(call.result, "no policy");
    EXPECT_EQ(call.hint, "make one");
}

TEST(ChildCall, EndsWhatTakesTooMuchTime) {
    const ChildCall call = call_in_child(small_limits, [] {
        while (::getppid() >= 0) {
        }
        return std::string();
    });
    EXPECT_EQ(call.end, End::exhausted);
    EXPECT_EQ(call.result, "");
}

/// Whether that many bytes can be had from the kernel; a sanitizer's allocator would not ask.
bool can_map(std::size_t size) {
    void* const place =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) {
        return false;
    }
    ::munmap(place, size);
    return true;
}

TEST(ChildCall, HasNoMoreMemoryThanItsLimit) {
    const auto try_to_map = [](std::size_t size) {
        return call_in_child(small_limits,
                             [size] {
                                 if (!can_map(size)) {
                                     throw std::bad_alloc();
                                 }
                                 return std::string();
                             })
            .end;
    };
    EXPECT_EQ(try_to_map(32 * mebibyte), End::returned);
    EXPECT_EQ(try_to_map(65 * mebibyte), End::exhausted);
    // The limit is the child's.
    EXPECT_TRUE(can_map(65 * mebibyte));
}

TEST(ChildCall, ACrashIsTheChildsAlone) {
    const ChildCall call = call_in_child(small_limits, []() -> std::string { std::abort(); });
    EXPECT_EQ(call.end, End::crashed);
}

}  // namespace
}  // namespace edgegpu
