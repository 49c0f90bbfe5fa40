#include "sandbox/seccomp.hpp"

#include <cerrno>
#include <map>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "unit/sandbox_fixture.hpp"

namespace edgegpu {
namespace {

class SandboxCalls : public test::Sandbox {};

TEST_F(SandboxCalls, TheProgramsCallsAreFiltered) {
    std::map<std::string, std::string> expected;
    for (const char* const name : {"mount",
                                   "umount2",
                                   "pivot_root",
                                   "open_tree",
                                   "move_mount",
                                   "fsopen",
                                   "fsconfig",
                                   "fsmount",
                                   "fspick",
                                   "mount_setattr",
                                   "init_module",
                                   "finit_module",
                                   "delete_module",
                                   "kexec_load",
                                   "reboot",
                                   "bpf",
                                   "perf_event_open",
                                   "userfaultfd",
                                   "syslog",
                                   "keyctl",
                                   "add_key",
                                   "request_key",
                                   "ptrace",
                                   "process_vm_readv",
                                   "process_vm_writev",
                                   "kcmp",
                                   "pidfd_getfd",
                                   "setns",
                                   "unshare",
                                   "unshare-upper-half",
                                   "clone",
                                   "personality",
                                   "open_by_handle_at",
                                   "fanotify_init",
                                   "quotactl",
                                   "acct",
                                   "swapon",
                                   "swapoff",
                                   "mknod-char",
                                   "mknod-block",
                                   "ioctl-sti",
                                   "ioctl-sti-upper-half",
                                   "ioctl-linux",
                                   "settimeofday",
                                   "clock_settime",
                                   "adjtimex",
                                   "clock_adjtime",
                                   "sethostname",
                                   "setdomainname",
                                   "vhangup",
                                   "iopl",
                                   "ioperm",
                                   "i386-mount",
                                   "i386-unshare"}) {
        expected[name] = std::to_string(EPERM);
    }
    for (const char* const name :
         {"io_uring_setup", "io_uring_enter", "io_uring_register", "clone3"}) {
        expected[name] = std::to_string(ENOSYS);
    }
    expected["name_to_handle_at"] = std::to_string(EOPNOTSUPP);
    for (const char* const name :
         {"socket-packet", "socket-vsock", "socket-alg", "socket-bluetooth", "socket-upper-half",
          "i386-socketcall", "i386-socket"}) {
        expected[name] = std::to_string(EAFNOSUPPORT);
    }
    for (const char* const name : {"socket-netfilter", "socket-audit", "socket-crypto"}) {
        expected[name] = std::to_string(EPROTONOSUPPORT);
    }
    for (const char* const name :
         {"personality-query", "personality-linux32", "personality-linux", "mknod-fifo", "set-id",
          "socket-unix", "socket-inet", "socket-inet6", "socket-route", "i386-getpid"}) {
        expected[name] = "0";
    }
    expected["x32"] = "Bad system call";
    const ProcessResult result = shell("image_program calls");
    EXPECT_EQ(result.status, 0);
    std::istringstream lines(result.output);
    std::map<std::string, std::string> seen;
    for (std::string line; std::getline(lines, line);) {
        seen[line.substr(0, line.find(' '))] = line.substr(line.find(' ') + 1);
    }
#ifdef __x86_64__
    EXPECT_EQ(seen, expected);
#endif
}

TEST_F(SandboxCalls, OnlyThoseWhoAreGivenThemHaveSocketsOfNetfilter) {
    SandboxCommand command;
    command.root = directory_ / "root";
    command.argv = {"image_program", "calls"};
    command.more_calls = MoreCalls::netfilter_sockets;
    std::map<std::string, std::string> seen;
    std::istringstream lines(run_in_sandbox(ctx_, command).output);
    for (std::string line; std::getline(lines, line);) {
        seen[line.substr(0, line.find(' '))] = line.substr(line.find(' ') + 1);
    }
    EXPECT_NE(seen["socket-netfilter"], std::to_string(EPERM));
    EXPECT_EQ(seen["socket-route"], "0");
    EXPECT_EQ(seen["socket-audit"], std::to_string(EPROTONOSUPPORT));
    EXPECT_EQ(seen["socket-crypto"], std::to_string(EPROTONOSUPPORT));
    EXPECT_EQ(seen["socket-packet"], std::to_string(EAFNOSUPPORT));
    EXPECT_EQ(seen["mount"], std::to_string(EPERM));
}

}  // namespace
}  // namespace edgegpu
