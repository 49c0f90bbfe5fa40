#include "sandbox/sandbox.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "image/overlay.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "unit/sandbox_fixture.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using test::Sandbox;

TEST_F(Sandbox, HasNoNetworkButLoopback) {
    EXPECT_EQ(shell("grep -o '^ *[a-z0-9]*:' /proc/net/dev").output, "    lo:\n");
}

TEST_F(Sandbox, ShowsTheImagesKernelOnly) {
    EXPECT_EQ(shell("cat /proc/sys/kernel/osrelease; uname -r; uname; uname -sr").output,
              "6.1.0-99-edge\n6.1.0-99-edge\nLinux\nLinux 6.1.0-99-edge\n");
    EXPECT_EQ(shell("uname -a").output,
              "Linux localhost 6.1.0-99-edge #1 SMP x86_64 x86_64 x86_64 GNU/Linux\n");
    EXPECT_EQ(shell("uname -m -p; uname --kernel-release; uname -x || echo refused").output,
              "x86_64 x86_64\n6.1.0-99-edge\nuname: invalid option -- 'x'\nrefused\n");
    EXPECT_EQ(shell("cat /proc/version").output,
              "Linux version 6.1.0-99-edge (builder@localhost) #1 SMP\n");
}

TEST_F(Sandbox, HidesTheBuildersFiles) {
    const std::string secret = (directory_ / "secret").string();
    write_file(secret, "builder");
    EXPECT_EQ(shell("ls /; ls /tmp /var/tmp /run").output,
              "bin\ndev\netc\nlib\nlib64\nproc\nrun\nsbin\ntmp\nusr\nvar\n"
              "/run:\nedgegpu-launcher\nostree-booted\n\n/tmp:\n\n/var/tmp:\n");
    EXPECT_NE(shell("cat " + secret).status, 0);
}

TEST_F(Sandbox, HasAFixedEnvironment) {
    ::setenv("EDGEGPU_LEAK", "1", 1);
    const std::string env =
        shell("env | grep -v -e ^PWD= -e ^SHLVL= -e ^_= | sort; umask; id -u").output;
    EXPECT_EQ(env,
              "HOME=/root\nLC_ALL=C.UTF-8\nPATH=/usr/sbin:/usr/bin:/sbin:/bin\n"
              "PYTHONDONTWRITEBYTECODE=1\nPYTHONHASHSEED=0\nSOURCE_DATE_EPOCH=1700000000\n"
              "SYSTEMD_OFFLINE=1\nTZ=UTC\n0022\n0\n");
}

TEST_F(Sandbox, ReturnsTheProgramsStatus) {
    EXPECT_EQ(shell("exit 42").status, 42);
}

TEST_F(Sandbox, NamesAProgramTheImageLacks) {
    SandboxCommand command;
    command.root = directory_ / "root";
    command.argv = {"no-such-tool"};
    try {
        static_cast<void>(run_in_sandbox(ctx_, command));
        FAIL() << "no exception";
    } catch (const Error& error) {
        EXPECT_EQ(error.message(),
                  "cannot run 'no-such-tool' in the image: No such file or directory");
    }
}

TEST_F(Sandbox, ChangesOfOwnersAndOtherUsersWork) {
    EXPECT_EQ(
        shell("touch /owned && chown 123:456 /owned && ls -n /owned | grep -c '123 456'").output,
        "1\n");
    fs::remove(directory_ / "root/owned");
}

TEST_F(Sandbox, KeepsAFewCapabilitiesForGood) {
    // chown, dac_override, fowner, fsetid, setgid, setuid, setfcap: bits 0, 1, 3, 4, 6, 7, 31.
    EXPECT_EQ(shell("grep -e Cap -e NoNewPrivs /proc/self/status").output,
              "CapInh:\t0000000000000000\nCapPrm:\t00000000800000db\n"
              "CapEff:\t00000000800000db\nCapBnd:\t00000000800000db\n"
              "CapAmb:\t0000000000000000\nNoNewPrivs:\t1\n");
}

TEST_F(Sandbox, HandsNoDescriptorOn) {
    // One that somebody opened without O_CLOEXEC.
    const int leak = ::open("/etc/passwd", O_RDONLY);
    const std::string output = shell("ls /proc/self/fd").output;
    ::close(leak);
    EXPECT_EQ(output.substr(0, 8), "0\n1\n2\n3\n");
}

TEST_F(Sandbox, HidesTheProcessThatMadeIt) {
    EXPECT_EQ(shell("ls -A /proc/1").output, "");
    EXPECT_EQ(shell("cat /proc/1/cmdline /proc/1/environ").status, 1);
}

// A scriptlet that kept them would make the image differ from machine to machine.
TEST_F(Sandbox, TellsNoPathOfTheBuilder) {
    const VisibleFiles visible(ctx_);
    ctx_.visible_files = visible.path();
    const fs::path own = ctx_.visible() / "own";
    make_directories(own);
    write_file(own / "file", "content\n");
    const fs::path base = directory_ / "layers";
    make_upper(base / "upper", 0755);
    const RootMount mount(directory_ / "root", base / "upper", base / "work", base / "mounted");
    SandboxCommand command;
    command.root = base / "mounted";
    command.argv = {"sh", "-c",
                    "cat /in/file /proc/self/mountinfo /proc/mounts /proc/self/maps; env;"
                    "echo changed > /out/new"};
    command.kernel = "6.1.0-99-edge";
    command.read_only_binds = {{own / "file", "/in/file"}};
    command.writable_binds = {{own, "/out"}};
    const std::string output = run_in_sandbox(ctx_, command).output;
    EXPECT_TRUE(output.starts_with("content\n")) << output;
    EXPECT_NE(output.find(" /out "), std::string::npos) << output;
    EXPECT_EQ(output.find(directory_.string()), std::string::npos) << output;
    EXPECT_EQ(read_file(own / "new"), "changed\n");
}

TEST_F(Sandbox, ShowsAMachineThatIsTheSameEverywhere) {
    const std::string text = shell(
                                 "cat /proc/cpuinfo /proc/meminfo /proc/stat /proc/uptime "
                                 "/proc/loadavg /proc/modules /proc/partitions /proc/swaps")
                                 .output;
    EXPECT_TRUE(text.starts_with("processor\t: 0\n")) << text;
    EXPECT_NE(text.find("MemTotal:        4194304 kB"), std::string::npos);
    EXPECT_EQ(text.find("cpu1"), std::string::npos);
    EXPECT_NE(text.find("\nbtime 0\n"), std::string::npos);
}

TEST_F(Sandbox, AProgramThatSpeaksLikeBubblewrapIsStillTheProgram) {
    const ProcessResult result = shell("echo 'bwrap: no'; exit 1");
    EXPECT_EQ(result.status, 1);
    EXPECT_EQ(result.output, "bwrap: no\n");
}

TEST_F(Sandbox, ProcTellsNothingOfTheMachineAndCannotBeWritten) {
    EXPECT_EQ(shell("for f in kcore keys kallsyms timer_list; do cat /proc/$f; done 2>&1 |"
                    "grep -v 'No such file'")
                  .output,
              "");
    EXPECT_EQ(
        shell("ls -A /proc/acpi /proc/scsi /proc/asound 2>/dev/null | grep -v -e : -e '^$'").output,
        "");
    EXPECT_NE(shell("ls /sys/kernel").status, 0);
    EXPECT_NE(shell("echo 1 > /proc/sys/net/ipv4/ip_forward").status, 0);
    EXPECT_EQ(shell("cat /proc/sys/net/ipv4/ip_forward").status, 0);
    EXPECT_NE(shell("echo core > /proc/sys/kernel/core_pattern").status, 0);
    EXPECT_NE(shell("touch /dev/x").status, 0);
    EXPECT_EQ(shell("echo x > /dev/null && touch /dev/shm/x").status, 0);
}

TEST_F(Sandbox, NothingOfAProgramLivesOn) {
    const fs::path file = directory_ / "root/left";
    for (int i = 0; i < 50; ++i) {
        fs::remove(file);
        EXPECT_EQ(shell("image_program stay /left; while ! [ -s /left ]; do :; done").status, 0);
        const auto size = fs::file_size(file);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        ASSERT_EQ(fs::file_size(file), size) << i;
    }
    fs::remove(file);
}

TEST_F(Sandbox, NothingLivesOnWhereTheBuildIsInterrupted) {
    const fs::path file = directory_ / "root/left";
    std::atomic<bool> cancelled{false};
    ctx_.cancelled = &cancelled;
    const std::jthread canceller([&] {
        while (!fs::exists(file)) {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        cancelled = true;
    });
    EXPECT_THROW(static_cast<void>(shell("image_program stay /left; sleep 60")), Error);
    const auto size = fs::file_size(file);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(fs::file_size(file), size);
    fs::remove(file);
}

TEST_F(Sandbox, LeavesNoMountPointOfABindBehind) {
    SandboxCommand command;
    command.root = directory_ / "root";
    command.argv = {"cat", "/opt/in/file", "/opt/deep/dir/file"};
    fs::create_directories(directory_ / "out");
    write_file(directory_ / "out/file", "content\n");
    command.read_only_binds = {{directory_ / "out/file", "/opt/deep/dir/file"}};
    command.writable_binds = {{directory_ / "out", "/opt/in"}};
    EXPECT_EQ(run_in_sandbox(ctx_, command).output, "content\ncontent\n");
    EXPECT_FALSE(fs::exists(directory_ / "root/opt"));
}

TEST_F(Sandbox, AReadOnlyRootCannotBeWritten) {
    SandboxCommand command;
    command.root = directory_ / "root";
    command.argv = {"touch", "/etc/x"};
    command.read_only_root = true;
    EXPECT_NE(run_in_sandbox(ctx_, command).status, 0);
    EXPECT_FALSE(fs::exists(directory_ / "root/etc/x"));
}

TEST_F(Sandbox, ALinkOfTheImageLeadsNoBindOutOfIt) {
    fs::create_directories(directory_ / "outside");
    fs::create_directories(directory_ / "out");
    write_file(directory_ / "out/file", "content\n");
    fs::create_symlink(directory_ / "outside", directory_ / "root/link");
    SandboxCommand command;
    command.root = directory_ / "root";
    command.argv = {"cat", "/link/file"};
    command.writable_binds = {{directory_ / "out", "/link"}};
    EXPECT_EQ(run_in_sandbox(ctx_, command).output, "content\n");
    EXPECT_TRUE(fs::is_empty(directory_ / "outside"));
    fs::remove(directory_ / "root/link");
}

TEST_F(Sandbox, RefusesAKernelReleaseThatIsCode) {
    SandboxCommand command;
    command.root = directory_ / "root";
    command.argv = {"true"};
    command.kernel = "6.1\"; rm -rf /";
    EXPECT_THROW(static_cast<void>(run_in_sandbox(ctx_, command)), Error);
}

}  // namespace
}  // namespace edgegpu
