#include "sandbox/limits.hpp"

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sandbox/bubblewrap.hpp"
#include "sandbox/user_namespace.hpp"
#include "support/error.hpp"
#include "unit/sandbox_fixture.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

class SandboxLimits : public test::Sandbox {};

/// A run under limits of its own, as the ones of a build are too large for a test.
ProcessResult limited(const fs::path& root, const std::vector<std::string>& program,
                      const ProcessLimits& limits) {
    ProcessRequest request;
    request.argv = {"bwrap",
                    "--unshare-pid",
                    "--unshare-net",
                    "--die-with-parent",
                    "--userns2",
                    std::to_string(image_user_namespace()),
                    "--bind",
                    root.string(),
                    "/",
                    "--proc",
                    "/proc",
                    "--dev",
                    "/dev",
                    "--"};
    request.argv.insert(request.argv.end(), program.begin(), program.end());
    request.as_root_of_namespace = true;
    request.descriptors = {image_user_namespace()};
    request.limits = limits;
    return run_bubblewrap(Context{}, request);
}

std::string limit_message(const ProcessLimits& limits, const ProcessResult& result) {
    try {
        check_limits("package X: %post", limits, result);
    } catch (const Error& error) {
        return error.message();
    }
    return "no error";
}

TEST_F(SandboxLimits, AnEndlessSleeperIsEnded) {
    ProcessLimits limits;
    limits.time = std::chrono::seconds(1);
    const ProcessResult result = limited(directory_ / "root", {"/bin/sleep", "60"}, limits);
    EXPECT_EQ(result.ended, Ended::time);
    EXPECT_EQ(limit_message(limits, result), "package X: %post did not end within 1 seconds");
}

TEST_F(SandboxLimits, AForkBombIsEnded) {
    ProcessLimits limits;
    limits.processes = 100;
    limits.time = std::chrono::seconds(60);
    const ProcessResult result =
        limited(directory_ / "root", {"/usr/bin/image_program", "bomb"}, limits);
    EXPECT_EQ(result.ended, Ended::processes);
    EXPECT_EQ(limit_message(limits, result), "package X: %post started more than 100 processes");
}

TEST_F(SandboxLimits, WhoEatsMemoryInSeveralProcessesIsEnded) {
    ProcessLimits limits;
    limits.memory = 256U << 20U;
    limits.time = std::chrono::seconds(60);
    const ProcessResult result =
        limited(directory_ / "root", {"/usr/bin/image_program", "eat"}, limits);
    EXPECT_EQ(result.ended, Ended::memory);
}

TEST_F(SandboxLimits, AnEndlessFileIsEnded) {
    ProcessLimits limits;
    limits.file_size = 1U << 20U;
    const ProcessResult result =
        limited(directory_ / "root", {"/bin/dd", "if=/dev/zero", "of=/big", "bs=65536"}, limits);
    EXPECT_EQ(result.ended, Ended::file_size);
    EXPECT_EQ(fs::file_size(directory_ / "root/big"), 1U << 20U);
    fs::remove(directory_ / "root/big");
}

TEST_F(SandboxLimits, AProgramThatFillsTheDiskIsEnded) {
    ProcessLimits limits;
    limits.disk = directory_;
    limits.disk_left = ~0ULL;
    const ProcessResult result = limited(directory_ / "root", {"/bin/sleep", "60"}, limits);
    EXPECT_EQ(result.ended, Ended::disk);
}

}  // namespace
}  // namespace edgegpu
