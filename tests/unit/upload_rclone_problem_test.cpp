#include "upload/rclone_problem.hpp"

#include <string>

#include <gtest/gtest.h>

#include "upload/rclone.hpp"
#include "upload/rclone_environment.hpp"

namespace edgegpu {
namespace {

TEST(RcloneProblem, TheLastErrorOfJsonCounts) {
    const RcloneProblem problem = problem_in(
        R"({"level":"warning","msg":"\nTransferred: 1","stats":{"bytes":3,"transfers":2}}
{"level":"error","msg":"Failed to copy: NoSuchBucket: The specified bucket does not exist\n\tstatus code: 404, request id: X, host id: ","object":"objects/aa/x.filez"}
{"level":"error","msg":"Attempt 1/1 failed with 2 errors and: NoSuchBucket: The"}
2026/11/28 10:19:33 Failed to copy with 2 errors: last error was: NoSuchBucket: The
	status code: 404
)");
    EXPECT_EQ(problem.reason,
              "objects/aa/x.filez: NoSuchBucket: The specified bucket does not exist status code: "
              "404");
    EXPECT_EQ(problem.kind, RcloneProblem::Kind::place);
}

TEST(RcloneProblem, ElseTheLastMessage) {
    EXPECT_EQ(problem_in("2026/11/28 10:19:22 ERROR : : error listing: directory not found\n"
                         "2026/11/28 10:19:22 Failed to lsf with 2 errors: last error was: error "
                         "in ListJSON: directory not found\n")
                  .reason,
              "directory not found");
    const RcloneProblem several = problem_in(
        "2026/11/28 10:19:21 Failed to create file system for \"s3:b\": LoadCustomCABundleError: "
        "unable to load\ncaused by: unsupported transport\n");
    EXPECT_EQ(several.reason,
              "Failed to create file system for \"s3:b\": LoadCustomCABundleError: unable to load "
              "caused by: unsupported transport");
    EXPECT_EQ(problem_in("Usage:\n  rclone lsf\nCommand lsf needs 1 arguments\n").reason,
              "Command lsf needs 1 arguments");
    EXPECT_EQ(problem_in("").reason, "rclone said nothing");
    EXPECT_EQ(problem_in("{\"level\":\"error\"\n{}\n[]\n").reason, "[]");
}

TEST(RcloneProblem, KindsGoByWords) {
    const auto kind = [](const std::string& text) { return problem_in(text + '\n').kind; };
    EXPECT_EQ(kind("didn't find section in config file"), RcloneProblem::Kind::configuration);
    EXPECT_EQ(kind("AccessDenied: Access Denied status code: 403"), RcloneProblem::Kind::access);
    EXPECT_EQ(kind("ssh: handshake failed: ssh: unable to authenticate"),
              RcloneProblem::Kind::access);
    EXPECT_EQ(kind("x509: certificate signed by unknown authority"),
              RcloneProblem::Kind::certificate);
    EXPECT_EQ(kind("write /srv/x: no space left on device"), RcloneProblem::Kind::space);
    EXPECT_EQ(kind("preallocate: file too big for remaining disk space"),
              RcloneProblem::Kind::space);
    EXPECT_EQ(kind("Insufficient Storage: 507 Insufficient Storage"), RcloneProblem::Kind::space);
    EXPECT_EQ(kind("dial tcp 127.0.0.1:1: connect: connection refused"),
              RcloneProblem::Kind::passing);
    for (const auto each : {RcloneProblem::Kind::configuration, RcloneProblem::Kind::access,
                            RcloneProblem::Kind::place, RcloneProblem::Kind::space,
                            RcloneProblem::Kind::certificate, RcloneProblem::Kind::passing}) {
        EXPECT_EQ(hint_for({each, "x"}, ":sftp,pass=secret:path").find("secret"),
                  std::string::npos);
    }
}

TEST(RcloneEnvironment, WhatWouldChangeTheCopyIsLeftOut) {
    for (const char* name : {"RCLONE_DRY_RUN", "RCLONE_EXCLUDE_FROM", "RCLONE_LOG_FILE",
                             "RCLONE_RC_ADDR", "RCLONE_IGNORE_EXISTING", "TZ", "LC_ALL"}) {
        EXPECT_FALSE(is_for_rclone(name)) << name;
    }
    for (const char* name :
         {"RCLONE_CONFIG", "RCLONE_CONFIG_S3_TYPE", "RCLONE_CONFIG_PASS", "RCLONE_S3_ACCESS_KEY_ID",
          "RCLONE_TRANSFERS", "AWS_PROFILE", "PATH", "HTTPS_PROXY", "SSH_AUTH_SOCK"}) {
        EXPECT_TRUE(is_for_rclone(name)) << name;
    }
}

TEST(RcloneVersion, IsAtLeastTheOldestThatIsKnown) {
    EXPECT_EQ(usable_rclone_version("rclone v1.60.1-DEV\n- os/version: debian\n"), "1.60.1");
    EXPECT_EQ(usable_rclone_version("rclone v1.76.0\n"), "1.76.0");
    EXPECT_EQ(usable_rclone_version("rclone v2.0\n"), "2.0");
    for (const char* output : {"", "rclone", "rclone v", "rclone v1", "rclone v1.59.9\n",
                               "rclone v1.6\n", "something v1.70\n"}) {
        EXPECT_EQ(usable_rclone_version(output), "") << output;
    }
}

}  // namespace
}  // namespace edgegpu
