/// What a program of an image might do to its builder.
///
///     calls      makes each of the system calls that it must not make, and prints "NAME ERRNO" for
///                each; 0: it worked
///     bomb       starts processes without end, as many users
///     eat        uses memory without end, in three processes
///     stay FILE  leaves a process behind that goes on writing to FILE
///
/// Linked statically, so that it runs in a root that has nothing else.

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

void report(const char* name, long result) {
    std::printf("%s %d\n", name, result < 0 ? errno : 0);
    std::fflush(stdout);
}

#define CALL(name, ...) report(#name, ::syscall(SYS_##name, __VA_ARGS__))

void mounts() {
    CALL(mount, "none", "/tmp", "tmpfs", 0L, nullptr);
    CALL(umount2, "/tmp", 0L);
    CALL(pivot_root, "/", "/");
    CALL(open_tree, AT_FDCWD, "/tmp", 1L);
    CALL(move_mount, -1L, "", -1L, "", 0L);
    CALL(fsopen, "tmpfs", 0L);
    CALL(fsconfig, -1L, 0L, nullptr, nullptr, 0L);
    CALL(fsmount, -1L, 0L, 0L);
    CALL(fspick, AT_FDCWD, "/tmp", 0L);
    CALL(mount_setattr, -1L, "", 0L, nullptr, 0L);
}

void kernel() {
    CALL(init_module, nullptr, 0L, "");
    CALL(finit_module, -1L, "", 0L);
    CALL(delete_module, "none", 0L);
    CALL(kexec_load, 0L, 0L, nullptr, 0L);
    CALL(reboot, 0L, 0L, 0L, nullptr);
    CALL(bpf, 0L, nullptr, 0L);
    CALL(perf_event_open, nullptr, 0L, 0L, -1L, 0L);
    CALL(userfaultfd, 1L);
    CALL(syslog, 3L, nullptr, 0L);
    CALL(keyctl, 0L, -3L, 1L);
    CALL(add_key, "user", "edgegpu", "x", 1L, -1L);
    CALL(request_key, "user", "edgegpu", nullptr, 0L);
    CALL(io_uring_setup, 1L, nullptr);
    CALL(io_uring_enter, -1L, 0L, 0L, 0L, nullptr, 0L);
    CALL(io_uring_register, -1L, 0L, nullptr, 0L);
}

void processes() {
    CALL(ptrace, 0L, 0L, nullptr, nullptr);
    CALL(process_vm_readv, ::getpid(), nullptr, 0L, nullptr, 0L, 0L);
    CALL(process_vm_writev, ::getpid(), nullptr, 0L, nullptr, 0L, 0L);
    CALL(kcmp, ::getpid(), ::getpid(), 1L, 0L, 0L);
    CALL(pidfd_getfd, -1L, 0L, 0L);
    CALL(setns, -1L, 0L);
    CALL(unshare, static_cast<long>(CLONE_NEWUSER));
    report("unshare-upper-half", ::syscall(SYS_unshare, static_cast<long>(CLONE_NEWNS)));
    CALL(clone3, nullptr, 0L);
    const long child = ::syscall(SYS_clone, static_cast<long>(CLONE_NEWUSER | SIGCHLD), nullptr,
                                 nullptr, nullptr, nullptr);
    if (child == 0) {
        ::_exit(0);
    }
    report("clone", child);
    CALL(personality, 0x0400000L);
    report("personality-query", ::syscall(SYS_personality, 0xffffffffL));
    report("personality-linux32", ::syscall(SYS_personality, 0x8L));
    report("personality-linux", ::syscall(SYS_personality, 0x0L));
}

void files() {
    CALL(open_by_handle_at, AT_FDCWD, nullptr, 0L);
    CALL(name_to_handle_at, AT_FDCWD, "/", nullptr, nullptr, 0L);
    CALL(fanotify_init, 0L, 0L);
    CALL(quotactl, 0L, nullptr, 0L, nullptr);
    CALL(acct, nullptr);
    CALL(swapon, "/none", 0L);
    CALL(swapoff, "/none");
    report("mknod-char", ::mknod("/tmp/char", S_IFCHR | 0600, makedev(1, 3)));
    report("mknod-block", ::mknod("/tmp/block", S_IFBLK | 0600, makedev(7, 0)));
    report("mknod-fifo", ::mknod("/tmp/fifo", S_IFIFO | 0600, 0));
    const int file = ::open("/tmp/file", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    report("set-id", ::fchmod(file, 06755));
    report("ioctl-sti", ::ioctl(file, 0x5412UL, "x"));
    report("ioctl-sti-upper-half", ::syscall(SYS_ioctl, file, 0x100005412L, "x"));
    report("ioctl-linux", ::ioctl(file, 0x541cUL, "x"));
}

void machine() {
    CALL(settimeofday, nullptr, nullptr);
    CALL(clock_settime, 0L, nullptr);
    CALL(adjtimex, nullptr);
    CALL(clock_adjtime, 0L, nullptr);
    CALL(sethostname, "x", 1L);
    CALL(setdomainname, "x", 1L);
    CALL(vhangup, 0L);
#ifdef SYS_iopl
    CALL(iopl, 3L);
    CALL(ioperm, 0L, 1L, 1L);
#endif
}

void sockets() {
    report("socket-unix", ::socket(AF_UNIX, SOCK_STREAM, 0));
    report("socket-inet", ::socket(AF_INET, SOCK_STREAM, 0));
    report("socket-inet6", ::socket(AF_INET6, SOCK_STREAM, 0));
    report("socket-route", ::socket(AF_NETLINK, SOCK_RAW, 0));
    report("socket-netfilter", ::socket(AF_NETLINK, SOCK_RAW, 12));
    report("socket-audit", ::socket(AF_NETLINK, SOCK_RAW, 9));
    report("socket-crypto", ::socket(AF_NETLINK, SOCK_RAW, 21));
    report("socket-packet", ::socket(AF_PACKET, SOCK_RAW, 0));
    report("socket-vsock", ::socket(AF_VSOCK, SOCK_STREAM, 0));
    report("socket-alg", ::socket(AF_ALG, SOCK_SEQPACKET, 0));
    report("socket-bluetooth", ::socket(AF_BLUETOOTH, SOCK_RAW, 0));
    report("socket-upper-half", ::syscall(SYS_socket, 0x100000000L | AF_PACKET, SOCK_RAW, 0L));
}

#ifdef __x86_64__
/// A call of i386 from a 64-bit program: number in eax, arguments in ebx, ecx, edx.
long call_i386(std::uint32_t number, std::uint32_t first, std::uint32_t second) {
    long result = 0;
    asm volatile("int $0x80"
                 : "=a"(result)
                 : "a"(number), "b"(first), "c"(second), "d"(0), "S"(0), "D"(0)
                 : "r8", "r9", "r10", "r11", "memory");
    if (static_cast<std::int32_t>(result) < 0) {
        errno = -static_cast<std::int32_t>(result);
        return -1;
    }
    return result;
}

void other_abis() {
    report("i386-getpid", call_i386(20, 0, 0));
    report("i386-mount", call_i386(21, 0, 0));
    report("i386-unshare", call_i386(310, CLONE_NEWUSER, 0));
    report("i386-socketcall", call_i386(102, 1, 0));
    report("i386-socket", call_i386(359, AF_PACKET, SOCK_RAW));
    const pid_t child = ::fork();
    if (child == 0) {
        ::syscall(0x40000000L | SYS_getpid);
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    std::printf("x32 %s\n", WIFSIGNALED(status) ? ::strsignal(WTERMSIG(status)) : "ran");
}
#else
void other_abis() {}
#endif

/// Never waits for its children, and changes its user, as limits count for each.
void bomb() {
    for (unsigned user = 1;; ++user) {
        const pid_t child = ::fork();
        if (child == 0) {
            [[maybe_unused]] const int changed = ::setuid(user % 60'000);
        }
    }
}

/// Three processes that share the work of it.
void eat() {
    for (int i = 0; i < 2; ++i) {
        if (::fork() == 0) {
            break;
        }
    }
    constexpr std::size_t portion = 16U << 20U;
    for (;;) {
        void* const memory = std::malloc(portion);
        if (memory != nullptr) {
            std::memset(memory, 1, portion);
        }
    }
}

/// Leaves a process behind that goes on writing, in a session of its own.
void stay(const char* path) {
    if (::fork() != 0) {
        return;
    }
    ::setsid();
    if (::fork() != 0) {
        ::_exit(0);
    }
    for (int i = 3; i < 1024; ++i) {
        ::close(i);
    }
    for (;;) {
        const int file = ::open(path, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644);
        [[maybe_unused]] const ssize_t put = ::write(file, "x", 1);
        ::close(file);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view what = argc > 1 ? argv[1] : "calls";
    if (what == "bomb") {
        bomb();
    } else if (what == "eat") {
        eat();
    } else if (what == "stay") {
        stay(argv[2]);
    } else {
        mounts();
        kernel();
        processes();
        files();
        machine();
        sockets();
        other_abis();
    }
    return 0;
}
