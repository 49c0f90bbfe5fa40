#include "sandbox/seccomp.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <string>

#include <asm/ioctls.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {

namespace {

constexpr const char* filter_name = "system call filter";

using Filter = Handle<void, seccomp_release>;

/// CLONE_NEWTIME, which some headers of the C library do not have.
constexpr std::uint64_t clone_new_time = 0x80;
/// Mask for arguments of 32 bits in 64-bit registers, whose upper half the kernel ignores.
constexpr std::uint64_t low_half = 0xffffffffU;

/// Denied with any arguments. Calls that an architecture does not have are left out of its filter.
constexpr std::array refused_calls{
    // mounts
    "mount", "umount", "umount2", "move_mount", "open_tree", "open_tree_attr", "fsopen", "fsconfig",
    "fsmount", "fspick", "mount_setattr", "pivot_root",
    // the kernel itself
    "init_module", "finit_module", "delete_module", "create_module", "query_module",
    "get_kernel_syms", "kexec_load", "kexec_file_load", "reboot", "bpf", "perf_event_open",
    "userfaultfd", "lookup_dcookie", "nfsservctl", "syslog", "_sysctl", "uselib", "vm86", "vm86old",
    "modify_ldt",
    // keyrings have no namespace
    "keyctl", "add_key", "request_key",
    // files by handle, notifications, quotas, swap
    "open_by_handle_at", "fanotify_init", "fanotify_mark", "quotactl", "quotactl_fd", "acct",
    "swapon", "swapoff",
    // other processes
    "process_madvise", "migrate_pages", "move_pages", "ptrace", "process_vm_readv",
    "process_vm_writev", "kcmp", "pidfd_getfd", "setns",
    // clocks and names of the machine
    "settimeofday", "clock_settime", "clock_settime64", "adjtimex", "clock_adjtime",
    "clock_adjtime64", "stime", "sethostname", "setdomainname", "vhangup",
    // raw devices
    "iopl", "ioperm", "pciconfig_read", "pciconfig_write", "pciconfig_iobase"};

/// Denied with ENOSYS: programs have a fallback for kernels without these calls.
constexpr std::array absent_calls{"clone3", "io_uring_setup", "io_uring_enter",
                                  "io_uring_register"};

void add(const Filter& filter, std::uint32_t action, const char* call,
         std::initializer_list<scmp_arg_cmp> arguments = {}) {
    const int number = seccomp_syscall_resolve_name(call);
    if (number == __NR_SCMP_ERROR) {
        return;  // newer than this libseccomp
    }
    const int code = seccomp_rule_add_array(
        filter.get(), action, number, static_cast<unsigned>(arguments.size()), arguments.begin());
    if (code != 0 && code != -EDOM) {  // EDOM: an architecture does not have the call
        throw errno_error(std::string("cannot filter the system call ") + call, -code);
    }
}

constexpr std::uint32_t refuse = SCMP_ACT_ERRNO(EPERM);

scmp_arg_cmp bits(unsigned argument, std::uint64_t mask, std::uint64_t value) {
    return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}

void refuse_namespaces(const Filter& filter) {
    for (const std::uint64_t flag :
         {std::uint64_t{CLONE_NEWNS}, std::uint64_t{CLONE_NEWUTS}, std::uint64_t{CLONE_NEWIPC},
          std::uint64_t{CLONE_NEWUSER}, std::uint64_t{CLONE_NEWPID}, std::uint64_t{CLONE_NEWNET},
          std::uint64_t{CLONE_NEWCGROUP}}) {
        add(filter, refuse, "unshare", {bits(0, flag, flag)});
        add(filter, refuse, "clone", {bits(0, flag, flag)});
    }
    // Not for clone(2), where this bit is part of the signal number.
    add(filter, refuse, "unshare", {bits(0, clone_new_time, clone_new_time)});
}

/// Allows PER_LINUX and PER_LINUX32, with or without UNAME26, and the query (0xffffffff).
void refuse_personalities(const Filter& filter) {
    constexpr std::uint64_t top = 0x80000000U;
    constexpr std::uint64_t allowed = std::uint64_t{PER_LINUX32} | std::uint64_t{UNAME26};
    for (unsigned shift = 0; shift < 31; ++shift) {
        const std::uint64_t bit = std::uint64_t{1} << shift;
        if ((bit & allowed) == 0) {
            add(filter, refuse, "personality", {bits(0, bit | top, bit)});
        }
        // With the highest bit, only the query is allowed, which has all bits set.
        add(filter, refuse, "personality", {bits(0, bit | top, top)});
    }
}

void refuse_devices(const Filter& filter) {
    for (const std::uint64_t type : {std::uint64_t{S_IFCHR}, std::uint64_t{S_IFBLK}}) {
        add(filter, refuse, "mknod", {bits(1, S_IFMT, type)});
        add(filter, refuse, "mknodat", {bits(2, S_IFMT, type)});
    }
    for (const std::uint64_t request : {std::uint64_t{TIOCSTI}, std::uint64_t{TIOCLINUX}}) {
        add(filter, refuse, "ioctl", {bits(1, low_half, request)});
    }
}

/// Allows sockets of the families unix, IP (for loopback), and netlink for the list of interfaces,
/// which the C library reads to resolve names.
void refuse_network_families(const Filter& filter, MoreCalls more) {
    constexpr std::uint64_t more_than_any = 64;
    const std::uint32_t unsupported = SCMP_ACT_ERRNO(EAFNOSUPPORT);
    for (std::uint64_t family = 0; family < more_than_any; ++family) {
        if (family != AF_UNIX && family != AF_INET && family != AF_INET6 && family != AF_NETLINK) {
            add(filter, unsupported, "socket", {{0, SCMP_CMP_EQ, family, 0}});
        }
    }
    add(filter, unsupported, "socket", {{0, SCMP_CMP_GE, more_than_any, 0}});
    const std::uint32_t unknown = SCMP_ACT_ERRNO(EPROTONOSUPPORT);
    if (more == MoreCalls::none) {
        add(filter, unknown, "socket",
            {{0, SCMP_CMP_EQ, AF_NETLINK, 0}, {2, SCMP_CMP_NE, NETLINK_ROUTE, 0}});
        return;
    }
    // A rule compares each argument once: there is none for "neither of two".
    for (std::uint64_t protocol = NETLINK_ROUTE + 1; protocol < NETLINK_NETFILTER; ++protocol) {
        add(filter, unknown, "socket",
            {{0, SCMP_CMP_EQ, AF_NETLINK, 0}, {2, SCMP_CMP_EQ, protocol, 0}});
    }
    add(filter, unknown, "socket",
        {{0, SCMP_CMP_EQ, AF_NETLINK, 0}, {2, SCMP_CMP_GT, NETLINK_NETFILTER, 0}});
}

void refuse_calls(const Filter& filter) {
    for (const char* const call : refused_calls) {
        add(filter, refuse, call);
    }
    for (const char* const call : absent_calls) {
        add(filter, SCMP_ACT_ERRNO(ENOSYS), call);
    }
    // Callers have a fallback, as some file systems have no handles.
    add(filter, SCMP_ACT_ERRNO(EOPNOTSUPP), "name_to_handle_at");
    refuse_namespaces(filter);
    refuse_personalities(filter);
    refuse_devices(filter);
}

Filter new_filter() {
    Filter filter(seccomp_init(SCMP_ACT_ALLOW));
    if (!filter ||
        seccomp_attr_set(filter.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) != 0) {
        throw Error("cannot create a system call filter");
    }
    // A binary tree instead of a list, so that a call requires few comparisons.
    seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2);
    return filter;
}

#ifdef __x86_64__
/// Adds the filter of 32-bit programs. With socketcall(2) the family of a socket is in memory,
/// which a filter cannot read, so these programs can create no sockets at all.
void add_i386(const Filter& filter) {
    Filter other = new_filter();
    if (seccomp_arch_add(other.get(), SCMP_ARCH_X86) != 0 ||
        seccomp_arch_remove(other.get(), SCMP_ARCH_NATIVE) != 0) {
        throw Error("cannot filter the system calls of i386 programs");
    }
    refuse_calls(other);
    add(other, SCMP_ACT_ERRNO(EAFNOSUPPORT), "socket");
    if (seccomp_merge(filter.get(), other.get()) != 0) {
        throw Error("cannot filter the system calls of i386 programs");
    }
    // Now owned by the first filter.
    static_cast<void>(other.release());
}
#endif

/// The compiled filter: an array of struct sock_filter.
std::string compile(MoreCalls more) {
    const Filter filter = new_filter();
    refuse_calls(filter);
    refuse_network_families(filter, more);
#ifdef __x86_64__
    add_i386(filter);
#endif
    const Fd memory = memory_file(filter_name, {});
    if (const int code = seccomp_export_bpf(filter.get(), memory.get()); code != 0) {
        throw errno_error("cannot create a system call filter", -code);
    }
    const off_t size = ::lseek(memory.get(), 0, SEEK_END);
    std::string program(static_cast<std::size_t>(size > 0 ? size : 0), '\0');
    if (program.empty() || ::pread(memory.get(), program.data(), program.size(), 0) != size) {
        throw Error("cannot create a system call filter");
    }
    return program;
}

}  // namespace

Fd open_call_filter(MoreCalls more) {
    static const std::string program = compile(MoreCalls::none);
    // A new descriptor for each caller, as reading moves its position.
    return memory_file(filter_name, more == MoreCalls::none ? program : compile(more));
}

}  // namespace edgegpu
