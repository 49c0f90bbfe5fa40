#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/commit_fixture.hpp"
#include "support/files/file.hpp"
#include "upload/rclone.hpp"

namespace edgegpu::test {

/// A program "rclone" in PATH that prints what a test says, and a remote that asks it.
class RcloneStandIn : public ::testing::Test {
protected:
    void SetUp() override {
        const char* path = std::getenv("PATH");
        path_ = path == nullptr ? "" : path;
        const std::filesystem::path programs = fixture.directory() / "programs";
        std::filesystem::create_directories(programs);
        std::filesystem::create_directories(scratch());
        write_file(programs / "rclone",
                   fmt::format("#!/bin/sh\nshift 4\nverb=$1\ncd '{}' || exit 9\n"
                               "printf '%s\\n' \"$*\" >>calls\n"
                               "printf '%s' \"$RCLONE_S3_UPLOAD_CUTOFF\" >\"$verb.cutoff\"\n"
                               "case $* in *--files-from-raw=*) cat names >>asked ;; esac\n"
                               "[ ! -e \"$verb.messages\" ] || cat \"$verb.messages\" >&2\n"
                               "[ ! -e \"$verb\" ] || cat \"$verb\"\n"
                               "[ ! -e \"$verb.status\" ] || exit \"$(cat \"$verb.status\")\"\n",
                               scratch().string()),
                   0755);
        ::setenv("PATH", (programs.string() + ':' + path_).c_str(), 1);
        answer("backend", R"({"Hashes": ["md5"]})");
    }
    void TearDown() override { ::setenv("PATH", path_.c_str(), 1); }

    [[nodiscard]] std::filesystem::path scratch() const { return fixture.directory() / "scratch"; }
    /// What `rclone VERB` prints from now on, how it ends and what it says on standard error.
    void answer(const std::string& verb, const std::string& output, int status = 0,
                const std::string& messages = "") const {
        write_file(scratch() / verb, output);
        write_file(scratch() / (verb + ".status"), std::to_string(status));
        write_file(scratch() / (verb + ".messages"), messages);
    }
    /// The arguments of all calls, a line each.
    [[nodiscard]] std::string calls() const { return read_file(scratch() / "calls"); }
    /// The files that it was asked about since the last time.
    [[nodiscard]] std::string asked() const {
        const std::filesystem::path file = scratch() / "asked";
        std::string names = std::filesystem::exists(file) ? read_file(file) : "";
        std::filesystem::remove(file);
        return names;
    }
    [[nodiscard]] RcloneRemote remote() const {
        return {fixture.ctx(), "s3:bucket/repo", "", scratch()};
    }

    // NOLINTNEXTLINE(*-non-private-*)
    CommitFixture fixture;

private:
    std::string path_;
};

}  // namespace edgegpu::test
