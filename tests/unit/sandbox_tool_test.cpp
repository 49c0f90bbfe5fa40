#include "sandbox/tool.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../support/rpm_fixture.hpp"
#include "execution/process.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/handles.hpp"

namespace edgegpu {
namespace {

using testing::HasSubstr;
using testing::Not;

ToolResult shell(const std::string& script, const std::vector<std::string>& outputs = {}) {
    ToolCommand command;
    command.argv = {"sh", "-c", script};
    command.inputs = {{"in", "content\n"}};
    command.outputs = outputs;
    return run_tool(Context{}, command);
}

TEST(Tool, ReadsItsInputsAndGivesItsOutputs) {
    const ToolResult result = shell("ls; tr a-z A-Z <in >out; echo said; exit 3", {"out", "none"});
    EXPECT_EQ(result.status, 3);
    EXPECT_EQ(result.output, "in\nsaid\n");
    EXPECT_EQ(result.files, (std::map<std::string, std::string>{{"out", "CONTENT\n"}}));
}

TEST(Tool, SeesNoFileOfTheBuilder) {
    const test::TemporaryDirectory directory;
    const std::string canary = (directory.path() / "canary").string();
    write_file(canary, "secret canary\n", 0644);
    const ToolResult result = shell("ls /; ls /etc; ls -a /tmp /root /home /proc /sys /var; cat " +
                                    canary + " /etc/passwd /etc/shadow; cat /../etc/passwd");
    EXPECT_NE(result.status, 0);
    EXPECT_THAT(result.output, Not(HasSubstr("secret canary")));
    EXPECT_THAT(result.output, Not(HasSubstr("root:")));
    EXPECT_THAT(result.output, testing::StartsWith("bin\ndev\n"));
    EXPECT_EQ(shell("ls -A /tmp; ls /etc | grep -v -e alternatives -e ld.so.cache").output, "");
}

TEST(Tool, HasNoPrivileges) {
    const ToolResult result = shell(
        "touch /usr/x /x; chown 5 in; mount -t tmpfs x /tmp; mknod null c 1 3; id -u; hostname");
    EXPECT_THAT(result.output, HasSubstr("1000\nlocalhost\n"));
    for (const char* what : {"'/usr/x'", "'/x'", "chown", "mount", "mknod"}) {
        EXPECT_THAT(result.output, HasSubstr(what)) << "no error of it";
    }
}

TEST(Tool, HasNoNetwork) {
    const Fd server(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const where = reinterpret_cast<sockaddr*>(&address);
    ASSERT_EQ(::bind(server.get(), where, size), 0);
    ASSERT_EQ(::listen(server.get(), 4), 0);
    ASSERT_EQ(::getsockname(server.get(), where, &size), 0);
    ToolCommand command;
    command.argv = {"bash", "-c",
                    "exec 3<>/dev/tcp/127.0.0.1/" + std::to_string(::ntohs(address.sin_port))};
    const ToolResult result = run_tool(Context{}, command);
    EXPECT_NE(result.status, 0);
    EXPECT_THAT(result.output, HasSubstr("Connection refused"));
}

TEST(Tool, TakesOnlyFilesAsOutputs) {
    const ToolResult result = shell(
        "ln -s /etc/passwd link; ln -s in inner; mkdir directory; mkfifo fifo; "
        "ln in hard; echo x >plain",
        {"link", "inner", "directory", "fifo", "hard", "plain"});
    EXPECT_EQ(result.files,
              (std::map<std::string, std::string>{{"hard", "content\n"}, {"plain", "x\n"}}));
    ToolCommand command;
    command.argv = {"sh", "-c", "head -c 2000 /dev/zero >out"};
    command.outputs = {"out"};
    command.output_limit = 1000;
    EXPECT_THROW((void)run_tool(Context{}, command), Error);
    command.inputs = {{"../x", ""}};
    EXPECT_THROW((void)run_tool(Context{}, command), Error);
}

TEST(Tool, LimitsMemoryAndFiles) {
    EXPECT_EQ(shell("ulimit -v; ulimit -t; ulimit -c").output, "2097152\n30\n0\n");
    const ToolResult result = shell("truncate -s 1G out", {"out"});
    EXPECT_NE(result.status, 0);
    EXPECT_EQ(result.files.at("out"), "") << "more than half a GiB in one file";
}

TEST(Tool, ReadsATreeThatItCannotChange) {
    ToolCommand command;
    command.argv = {"sh", "-c",
                    "cd /input; find . -type f | sort; cat a/b/c; touch x; rm d; echo x >d; pwd; "
                    "ls -A /work"};
    command.tree = {{"a/b/c", "content\n"}, {"d", ""}};
    const std::string output = run_tool(Context{}, command).output;
    EXPECT_THAT(output, testing::StartsWith("./a/b/c\n./d\ncontent\n"));
    EXPECT_THAT(output, HasSubstr("touch: cannot touch 'x': Read-only file system"));
    EXPECT_THAT(output, HasSubstr("rm: cannot remove 'd': Read-only file system"));
    EXPECT_THAT(output, testing::EndsWith("/input\n"));
    for (const char* name : {"", "/a", "../a", "a/../../b", "a//b/.", "a/"}) {
        command.tree = {{name, ""}};
        EXPECT_THROW((void)run_tool(Context{}, command), Error) << name;
    }
}

TEST(Tool, RunsAProgramOfTheUser) {
    const test::TemporaryDirectory directory;
    const std::filesystem::path program = directory.path() / "mine";
    write_file(program, "#!/bin/sh\necho $0 $1; ls " + directory.path().string(), 0755);
    write_file(directory.path() / "other", "");
    std::filesystem::create_symlink(program, directory.path() / "link");
    ToolCommand command;
    command.argv = {"mine", "word"};
    command.program = directory.path() / "link";
    const ToolResult result = run_tool(Context{}, command);
    EXPECT_THAT(result.output, testing::StartsWith("/program/link word\n"));
    EXPECT_THAT(result.output, HasSubstr("No such file"));
    command.program = "/usr/bin/true";
    EXPECT_EQ(run_tool(Context{}, command).status, 0);
    command.program = directory.path() / "none";
    EXPECT_THROW((void)run_tool(Context{}, command), Error);
}

TEST(Tool, EndsAProgramThatWaits) {
    ToolCommand command;
    command.argv = {"sh", "-c", "echo begun; sleep 1000 & sleep 1000"};
    command.time = std::chrono::seconds(1);
    const ToolResult result = run_tool(Context{}, command);
    EXPECT_EQ(result.ended, Ended::time);
    EXPECT_EQ(result.output, "begun\n");
}

TEST(Tool, ProgramsThatAreNotThere) {
    ToolCommand command;
    command.argv = {"no-such-program"};
    try {
        (void)run_tool(Context{}, command);
        ADD_FAILURE() << "it ran";
    } catch (const Error& problem) {
        EXPECT_EQ(problem.message(), "no-such-program: program not found");
    }
}

/// Without the filter, a process of the sandbox may make a user namespace.
constexpr const char* make_namespace = "unshare --user true 2>&1 || echo refused";
constexpr const char* namespace_refused =
    "unshare: unshare failed: Operation not permitted\nrefused\n";

TEST(Tool, MakesNoCallThatTheFilterRefuses) {
    EXPECT_EQ(shell(make_namespace).output, namespace_refused);
}

TEST(Tool, LeavesNothingBehind) {
    const test::TemporaryDirectory directory;
    const char* before = std::getenv("TMPDIR");
    const std::string kept = before != nullptr ? before : "";
    ::setenv("TMPDIR", directory.path().c_str(), 1);
    (void)shell("mkdir -p a/b; chmod 0 a; echo x >y; ln -s / root");
    EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
    before != nullptr ? ::setenv("TMPDIR", kept.c_str(), 1) : ::unsetenv("TMPDIR");
}

}  // namespace
}  // namespace edgegpu
