// Attacks on the kernel and on other processes of the builder.
#define _GNU_SOURCE
#include "attack.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/vm_sockets.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void try_trace(int pid) {
    char what[64];
    char buffer[64];
    snprintf(what, sizeof(what), "PTRACE_SEIZE of process %d", pid);
    judge(what, ptrace(PTRACE_SEIZE, pid, NULL, NULL));
    snprintf(what, sizeof(what), "process_vm_readv of process %d", pid);
    struct iovec here = {buffer, sizeof(buffer)};
    struct iovec there = {(void*)(uintptr_t)0x400000, sizeof(buffer)};
    const ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);
    const bool refused =
        got < 0 && (errno == EPERM || errno == ENOSYS || errno == EACCES || errno == ESRCH);
    refused ? blocked(what, strerror(errno))
            : escaped(what, got < 0 ? strerror(errno) : "memory was read");
    const int handle = (int)syscall(SYS_pidfd_open, pid, 0);
    for (int fd = 0; handle >= 0 && fd < 64; ++fd) {
        const long taken = syscall(SYS_pidfd_getfd, handle, fd, 0);
        if (taken >= 0 || (errno != EPERM && errno != ENOSYS && errno != EACCES)) {
            snprintf(what, sizeof(what), "pidfd_getfd of process %d", pid);
            escaped(what, taken >= 0 ? "a descriptor was taken" : strerror(errno));
            break;
        }
    }
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/mem", pid);
    judge(path, open(path, O_RDWR));
}

void attack_processes(void) {
    each_stranger(try_trace);
    // Nobody but the sandbox's first process and what it started may be seen.
    DIR* processes = opendir("/proc");
    const struct dirent* item = NULL;
    int seen = 0;
    while (processes != NULL && (item = readdir(processes)) != NULL) {
        seen += item->d_name[0] >= '1' && item->d_name[0] <= '9';
    }
    seen > 12 ? escaped("processes", "those of the builder are seen")
              : blocked("processes", "a few are seen");
}

#define CALL(number, ...) judge_filtered(#number, syscall(number, __VA_ARGS__))

void attack_filtered(void) {
    CALL(SYS_open_by_handle_at, -1, 0, 0);
    CALL(SYS_init_module, 0, 0, "");
    CALL(SYS_finit_module, -1, "", 0);
    CALL(SYS_delete_module, "hostile", 0x800);
    CALL(SYS_kexec_load, 0, 0, 0, 0);
    CALL(SYS_kexec_file_load, -1, -1, 0, "", 0);
    CALL(SYS_reboot, 0, 0, 0, 0);
    CALL(SYS_settimeofday, 0, "", 0);
    CALL(SYS_clock_settime, 0, 0);
    CALL(SYS_clock_adjtime, 0, 0);
    CALL(SYS_iopl, 3);
    CALL(SYS_ioperm, 0x3f8, 1, 1);
    CALL(SYS_io_uring_setup, 8, 0);
    CALL(SYS_io_uring_enter, -1, 0, 0, 0, 0, 0);
    CALL(SYS_io_uring_register, -1, 0, 0, 0);
    CALL(SYS_bpf, 0, 0, 0);
    CALL(SYS_perf_event_open, 0, 0, -1, -1, 0);
    CALL(SYS_userfaultfd, 0);
    CALL(SYS_keyctl, 0, -3, 0);
    CALL(SYS_add_key, "user", "hostile", "x", 1, -3);
    CALL(SYS_request_key, "user", "hostile", 0, 0);
    CALL(SYS_swapon, "/nowhere", 0);
    CALL(SYS_swapoff, "/nowhere");
    CALL(SYS_acct, "/nowhere");
    CALL(SYS_quotactl, 0, 0, 0, 0);
    CALL(SYS_syslog, 3, 0, 0);
    CALL(SYS_sethostname, "hostile", 7);
    CALL(SYS_setdomainname, "hostile", 7);
    CALL(SYS_vhangup, 0);
    CALL(SYS_fanotify_init, 0, 0);
    CALL(SYS_kcmp, getpid(), 1, 0, 0, 0);
    CALL(SYS_process_madvise, -1, 0, 0, 0, 0);
    CALL(SYS_mount, "/nowhere", "/nowhere", "tmpfs", 0, 0);
    CALL(SYS_umount2, "/nowhere", 0);
    CALL(SYS_pivot_root, "/nowhere", "/nowhere");
    CALL(SYS_open_tree, -100, "/nowhere", 0x80000 | 1);
    CALL(SYS_move_mount, -1, "", -1, "", 0);
    CALL(SYS_fsopen, "nothing", 0);
    CALL(SYS_fsconfig, -1, 0, 0, 0, 0);
    CALL(SYS_fsmount, -1, 0, 0);
    CALL(SYS_fspick, -100, "/nowhere", 0);
    CALL(SYS_mount_setattr, -100, "/nowhere", 0, 0, 0);
    CALL(SYS_setns, -1, 0);
    CALL(SYS_lookup_dcookie, 0, 0, 0);
    CALL(SYS_uselib, "/nowhere");
    CALL(SYS_migrate_pages, 0, 0, 0, 0);
    CALL(SYS_pidfd_getfd, -1, 0, 0);
}

static int in_child(void* unused) {
    (void)unused;
    return 0;
}

void attack_namespaces(void) {
    const struct {
        const char* name;
        int flag;
    } kinds[] = {{"CLONE_NEWUSER", CLONE_NEWUSER},    {"CLONE_NEWNS", CLONE_NEWNS},
                 {"CLONE_NEWNET", CLONE_NEWNET},      {"CLONE_NEWPID", CLONE_NEWPID},
                 {"CLONE_NEWIPC", CLONE_NEWIPC},      {"CLONE_NEWUTS", CLONE_NEWUTS},
                 {"CLONE_NEWCGROUP", CLONE_NEWCGROUP}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); ++i) {
        char what[64];
        snprintf(what, sizeof(what), "unshare(%s)", kinds[i].name);
        const pid_t child = fork();
        if (child == 0) {
            judge(what, unshare(kinds[i].flag));
            _exit(0);
        }
        waitpid(child, NULL, 0);
        static char stack[65536];
        snprintf(what, sizeof(what), "clone(%s)", kinds[i].name);
        const int cloned = clone(in_child, stack + sizeof(stack), kinds[i].flag | SIGCHLD, NULL);
        judge(what, cloned);
        // A filter cannot look into clone3's arguments: it is either not there, or makes no
        // namespace.
        uint64_t arguments[11] = {(uint64_t)kinds[i].flag};
        arguments[4] = SIGCHLD;
        snprintf(what, sizeof(what), "clone3(%s)", kinds[i].name);
        const long three = syscall(SYS_clone3, arguments, sizeof(arguments));
        if (three == 0) {
            _exit(0);
        }
        judge(what, three);
        while (waitpid(-1, NULL, 0) > 0) {
        }
    }
    const char* const names[] = {"user", "mnt", "net", "pid", "ipc", "uts", "cgroup"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        char path[64];
        snprintf(path, sizeof(path), "/proc/1/ns/%s", names[i]);
        const int fd = open(path, O_RDONLY);
        fd < 0 ? blocked(path, strerror(errno)) : judge(path, setns(fd, 0));
    }
}

static void try_connect(const char* what, int family, const void* address, socklen_t size) {
    const int fd = socket(family, SOCK_STREAM, 0);
    if (fd < 0) {
        blocked(what, strerror(errno));
        return;
    }
    judge(what, connect(fd, address, size));
    close(fd);
}

void attack_sockets(void) {
    const int port = atoi(target("port"));
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    try_connect("a listener of the builder's on 127.0.0.1", AF_INET, &four, sizeof(four));
    struct sockaddr_in6 six = {.sin6_family = AF_INET6,
                               .sin6_port = htons((uint16_t)port),
                               .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    try_connect("a listener of the builder's on ::1", AF_INET6, &six, sizeof(six));
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    const char* abstract = target("abstract");
    memcpy(name.sun_path + 1, abstract, strlen(abstract));
    try_connect("an abstract socket of the builder's", AF_UNIX, &name,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(abstract)));
    struct sockaddr_vm host = {.svm_family = AF_VSOCK, .svm_port = 1, .svm_cid = VMADDR_CID_HOST};
    try_connect("AF_VSOCK", AF_VSOCK, &host, sizeof(host));
    const struct {
        const char* name;
        int family, type;
    } families[] = {{"AF_VSOCK", AF_VSOCK, SOCK_STREAM},
                    {"AF_ALG", AF_ALG, SOCK_SEQPACKET},
                    {"AF_PACKET", AF_PACKET, SOCK_RAW},
                    {"AF_KEY", AF_KEY, SOCK_RAW},
                    {"AF_XDP", AF_XDP, SOCK_RAW},
                    {"AF_CAN", AF_CAN, SOCK_RAW},
                    {"AF_BLUETOOTH", AF_BLUETOOTH, SOCK_RAW},
                    {"AF_TIPC", AF_TIPC, SOCK_STREAM},
                    {"AF_RDS", AF_RDS, SOCK_SEQPACKET},
                    {"AF_X25", AF_X25, SOCK_SEQPACKET},
                    {"AF_AX25", AF_AX25, SOCK_DGRAM},
                    {"AF_APPLETALK", AF_APPLETALK, SOCK_DGRAM},
                    {"AF_NFC", AF_NFC, SOCK_SEQPACKET},
                    {"AF_KCM", AF_KCM, SOCK_DGRAM},
                    {"AF_QIPCRTR", AF_QIPCRTR, SOCK_DGRAM},
                    {"AF_SMC", AF_SMC, SOCK_STREAM},
                    {"raw AF_INET", AF_INET, SOCK_RAW}};
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); ++i) {
        const int fd = socket(families[i].family, families[i].type,
                              families[i].family == AF_INET ? IPPROTO_ICMP : 0);
        judge(families[i].name, fd);
    }
}

/// Files that steer the kernel or tell its secrets. None is written: that it opens is enough.
void attack_control(void) {
    const char* const steering[] = {"/proc/sys/kernel/core_pattern",
                                    "/proc/sys/kernel/modprobe",
                                    "/proc/sys/kernel/hotplug",
                                    "/proc/sys/kernel/sysrq",
                                    "/proc/sys/kernel/hostname",
                                    "/proc/sys/kernel/randomize_va_space",
                                    "/proc/sys/vm/panic_on_oom",
                                    "/proc/sys/vm/overcommit_memory",
                                    "/proc/sys/fs/protected_symlinks",
                                    "/proc/sys/fs/binfmt_misc/register",
                                    "/proc/sys/net/ipv4/ip_forward",
                                    "/proc/sysrq-trigger",
                                    "/proc/mtrr",
                                    "/proc/acpi/wakeup",
                                    "/sys/kernel/uevent_helper",
                                    "/sys/kernel/mm/transparent_hugepage/enabled",
                                    "/sys/power/state",
                                    "/sys/fs/cgroup/release_agent",
                                    "/sys/fs/cgroup/cgroup.procs",
                                    "/sys/module/kernel/parameters/panic",
                                    "/sys/kernel/debug/x",
                                    "/sys/kernel/security/x",
                                    "/dev/kmsg",
                                    "/dev/mem",
                                    "/dev/loop-control"};
    for (size_t i = 0; i < sizeof(steering) / sizeof(steering[0]); ++i) {
        judge(steering[i], open(steering[i], O_WRONLY | O_NONBLOCK));
    }
    const char* const secret[] = {"/proc/kcore",         "/proc/keys",
                                  "/proc/latency_stats", "/proc/timer_list",
                                  "/proc/sched_debug",   "/proc/scsi/scsi",
                                  "/proc/kmsg",          "/sys/firmware/dmi/tables/DMI",
                                  "/proc/1/mem"};
    for (size_t i = 0; i < sizeof(secret) / sizeof(secret[0]); ++i) {
        char byte[16];
        const int fd = open(secret[i], O_RDONLY | O_NONBLOCK);
        const ssize_t got = fd < 0 ? -1 : read(fd, byte, sizeof(byte));
        got > 0 ? escaped(secret[i], "it was read")
                : blocked(secret[i], got < 0 ? strerror(errno) : "empty");
        close(fd);
    }
}

/// A program that belongs to root and sets its id, started by somebody else.
void attack_setid(void) {
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        if (setgid(1) != 0 || setuid(1) != 0) {
            blocked("setuid(1)", strerror(errno));
            _exit(0);
        }
        try_canary(AT_FDCWD, target("key"), "the key as another user");
        execl("/usr/libexec/attack-setid", "attack", "paths", NULL);
        blocked("exec", strerror(errno));
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

/// For ever, in the background: `directory` is now a directory, now a link.
void attack_swap(const char* directory, const char* link) {
    if (fork() != 0) {
        _exit(0);
    }
    setsid();
    if (fork() != 0) {
        _exit(0);
    }
    for (int fd = 0; fd < 64; ++fd) {
        close(fd);
    }
    signal(SIGHUP, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    char spare[1024];
    snprintf(spare, sizeof(spare), "%s.spare", directory);
    for (;;) {
        unlink(spare);
        if (symlink(link, spare) != 0 && errno != EEXIST) {
            usleep(100);
        }
        syscall(SYS_renameat2, AT_FDCWD, directory, AT_FDCWD, spare, 2 /* RENAME_EXCHANGE */);
    }
}
