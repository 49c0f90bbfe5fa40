#include "execution/child_call.hpp"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/handles.hpp"

namespace edgegpu {
namespace {

using End = ChildCall::End;

constexpr std::uint64_t mebibyte = 1U << 20U;
const ChildLimits small_limits{64 * mebibyte, std::chrono::seconds(1), std::chrono::seconds(60)};

const ChildFunction repeat("test repeat", [](const std::string& input, const std::string& called) {
    return called + ':' + std::string(3 * mebibyte, input.at(0)) + input;
});
const ChildFunction refuse("test refuse",
                           [](const std::string& input, const std::string&) -> std::string {
                               throw error("no {}", input).hinted("make one");
                           });
const ChildFunction spin("test spin", [](const std::string&, const std::string&) {
    while (::getppid() >= 0) {
    }
    return std::string();
});
const ChildFunction stay("test stay", [](const std::string& input, const std::string&) {
    std::ofstream(input) << "here";
    while (true) {
        ::pause();
    }
    return std::string();
});
const ChildFunction crash("test crash", [](const std::string&, const std::string&) -> std::string {
    std::abort();
});
const ChildFunction look("test look", [](const std::string&, const std::string&) {
    std::string text;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code code;
        text += std::filesystem::read_symlink(entry.path(), code).string() + '\n';
    }
    const char* secret = std::getenv("EDGEGPU_TEST_SECRET");
    return text + (secret == nullptr ? "" : secret);
});

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

const ChildFunction map_memory("test map", [](const std::string& input, const std::string&) {
    if (!can_map(std::stoul(input))) {
        throw std::bad_alloc();
    }
    return std::string();
});

TEST(ChildCall, ReturnsWhatTheCallReturns) {
    const ChildCall call =
        call_in_child(Context(), repeat, std::string("x\0y", 3), "name", small_limits);
    EXPECT_EQ(call.end, End::returned);
    EXPECT_EQ(call.result, "name:" + std::string(3 * mebibyte, 'x') + std::string("x\0y", 3));
}

TEST(ChildCall, PassesOnAnError) {
    const ChildCall call = call_in_child(Context(), refuse, "policy", "name", small_limits);
    EXPECT_EQ(call.end, End::refused);
    EXPECT_EQ(call.result, "no policy");
    EXPECT_EQ(call.hint, "make one");
}

TEST(ChildCall, EndsWhatTakesTooMuchTime) {
    const ChildCall call = call_in_child(Context(), spin, "", "name", small_limits);
    EXPECT_EQ(call.end, End::exhausted);
    EXPECT_EQ(call.result, "");
}

/// A place to which a child that never ends writes when it has begun.
class Waiting : public testing::Test {
protected:
    Waiting() {
        path_ = (std::filesystem::temp_directory_path() / "edgegpu-child-XXXXXX").string();
        EXPECT_NE(::mkdtemp(path_.data()), nullptr);
        EXPECT_EQ(::mkfifo(fifo().c_str(), 0600), 0);
    }
    ~Waiting() override { std::filesystem::remove_all(path_); }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

    [[nodiscard]] std::string fifo() const { return path_ + "/begun"; }

    std::string path_;
};

TEST_F(Waiting, WhatUsesNoProcessorHasADeadlineAsWell) {
    const Fd reader(::open(fifo().c_str(), O_RDWR | O_CLOEXEC));
    const ChildLimits limits{64 * mebibyte, std::chrono::seconds(1), std::chrono::seconds(1)};
    EXPECT_EQ(call_in_child(Context(), stay, fifo(), "name", limits).end, End::exhausted);
}

TEST_F(Waiting, EndsWhenTheBuildIsInterrupted) {
    std::atomic<bool> cancelled = false;
    Context ctx;
    ctx.cancelled = &cancelled;
    std::thread interrupting([&] {
        std::ifstream begun(fifo());
        EXPECT_EQ(begun.get(), 'h');
        cancelled = true;
    });
    try {
        static_cast<void>(
            call_in_child(ctx, stay, fifo(), "name",
                          {64 * mebibyte, std::chrono::seconds(600), std::chrono::seconds(600)}));
        ADD_FAILURE() << "it returned";
    } catch (const Error& problem) {
        EXPECT_EQ(problem.kind(), ErrorKind::interrupted);
    }
    interrupting.join();
}

TEST(ChildCall, HasNoMoreMemoryThanItsLimit) {
    const auto try_to_map = [](std::size_t size) {
        return call_in_child(Context(), map_memory, std::to_string(size), "name", small_limits).end;
    };
    EXPECT_EQ(try_to_map(32 * mebibyte), End::returned);
    EXPECT_EQ(try_to_map(65 * mebibyte), End::exhausted);
    // The limit is the child's.
    EXPECT_TRUE(can_map(65 * mebibyte));
}

TEST(ChildCall, ACrashIsTheChildsAlone) {
    EXPECT_EQ(call_in_child(Context(), crash, "", "name", small_limits).end, End::crashed);
}

/// A copy of this process would have its files, and the locks of its threads.
TEST(ChildCall, HasNothingOfThisProcess) {
    const Fd open(::open("/dev/zero", O_RDONLY));
    ::setenv("EDGEGPU_TEST_SECRET", "a secret", 1);
    std::atomic<bool> done = false;
    std::thread allocating([&] {
        while (!done) {
            delete new std::string(100, 'x');
        }
    });
    for (int i = 0; i < 3; ++i) {
        const ChildCall call = call_in_child(Context(), look, "", "name", small_limits);
        EXPECT_EQ(call.end, End::returned);
        EXPECT_EQ(call.result.find("/dev/zero"), std::string::npos) << call.result;
        EXPECT_EQ(call.result.find("secret"), std::string::npos);
    }
    done = true;
    allocating.join();
    ::unsetenv("EDGEGPU_TEST_SECRET");
}

}  // namespace
}  // namespace edgegpu
