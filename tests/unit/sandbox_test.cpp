#include "sandbox/sandbox.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "support/error.hpp"
#include "support/file.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;

/// A root with a shell and a few programs of this machine, and the libraries they need.
class Sandbox : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        std::string pattern = (fs::temp_directory_path() / "edgegpu-sandbox.XXXXXX").string();
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        directory_ = pattern;
        const std::string script =
            "set -e; mkdir -p root/usr/bin root/usr/lib root/usr/lib64 root/etc\n"
            "for d in bin lib lib64; do ln -s usr/$d root/$d; done; ln -s usr/bin root/sbin\n"
            "for p in sh cat ls env sort uname id chown mknod touch grep ps; do\n"
            "  f=$(readlink -f $(command -v $p)); cp $f root/usr/bin/$p; ldd $f; done |\n"
            "grep -o '/[^ ]*' | sort -u | while read l; do mkdir -p root${l%/*}; cp $l root$l; "
            "done\n";
        const ProcessResult made = run_process(Context{}, {"sh", "-c", script}, {}, {}, pattern);
        ASSERT_EQ(made.status, 0) << made.output;
    }
    static void TearDownTestSuite() { fs::remove_all(directory_); }

    void SetUp() override {
        ctx_.cache = directory_ / "cache";
        ctx_.source_date_epoch = 1700000000;
    }

    [[nodiscard]] ProcessResult shell(const std::string& script) const {
        SandboxCommand command;
        command.root = directory_ / "root";
        command.argv = {"sh", "-c", script};
        command.kernel = "6.1.0-99-edge";
        return run_in_sandbox(ctx_, command);
    }

    inline static fs::path directory_;
    Context ctx_;
};

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
              "/run:\nostree-booted\n\n/tmp:\n\n/var/tmp:\n");
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
                  "cannot run 'no-such-tool' in the image: execvp no-such-tool: No such file or "
                  "directory");
    }
}

TEST_F(Sandbox, ChangesOfOwnersAndOtherUsersWork) {
    EXPECT_EQ(
        shell("touch /owned && chown 123:456 /owned && ls -n /owned | grep -c '123 456'").output,
        "1\n");
    fs::remove(directory_ / "root/owned");
}

TEST_F(Sandbox, KeepsNoCapabilityToMountOrTrace) {
    // Bits of capabilities(7): 12 net_admin, 16 sys_module, 17 sys_rawio, 19 sys_ptrace,
    // 21 sys_admin, 22 sys_boot, 25 sys_time, 39 bpf; 18 sys_chroot, 27 mknod, 31 setfcap.
    const std::string output = shell("grep CapEff: /proc/self/status").output;
    const unsigned long long mask = std::stoull(output.substr(output.find('\t') + 1), nullptr, 16);
    for (const unsigned bit : {12U, 13U, 16U, 17U, 19U, 21U, 22U, 25U, 39U}) {
        EXPECT_EQ(mask >> bit & 1U, 0U) << bit;
    }
    for (const unsigned bit : {0U, 1U, 3U, 4U, 6U, 7U, 18U, 27U, 31U}) {
        EXPECT_EQ(mask >> bit & 1U, 1U) << bit;
    }
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
