#include "execution/child_setup.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <mutex>

#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// AddressSanitizer takes the child's stack for a fault.
#define EDGEGPU_ON_OTHER_STACK __attribute__((no_sanitize_address))

namespace edgegpu {

namespace {

/// Of the child, until it executes the program; system calls need some hundred bytes.
constexpr std::size_t stack_size = 64UL << 10U;

/// A limit enforced by the kernel. One that is already lower stays.
void set_limit(decltype(RLIMIT_CORE) resource, rlim_t wanted) noexcept {
    struct rlimit limit {};
    if (::getrlimit(resource, &limit) == 0) {
        limit.rlim_max = std::min(limit.rlim_max, wanted);
        limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
        ::setrlimit(resource, &limit);
    }
}

void set_limits(const ProcessLimits& limits) noexcept {
    set_limit(RLIMIT_CORE, 0);
    if (limits.file_size != 0) {
        set_limit(RLIMIT_FSIZE, limits.file_size);
    }
    if (limits.processes != 0) {
        // Higher than the limit that is checked, so that the program is stopped with a message
        // before it fails in another way. Counted for each user of a user namespace.
        set_limit(RLIMIT_NPROC, rlim_t{limits.processes} * 2);
    }
    if (limits.memory != 0) {
        set_limit(RLIMIT_DATA, limits.memory);
    }
}

/// If the machine runs out of memory all the same, this process is killed first.
void go_first_when_memory_is_short() noexcept {
    const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file >= 0) {
        [[maybe_unused]] const ssize_t put = ::write(file, "1000", 4);
        ::close(file);
    }
}

/// Runs the program in place of the child, which shares all memory with other threads of its parent
/// and has a stack of its own: it only makes system calls, and changes no variable but errno.
[[noreturn]] EDGEGPU_ON_OTHER_STACK void become_program(const ChildSetup& setup) noexcept {
    ::setpgid(0, 0);
    if (setup.limits->memory != 0) {
        go_first_when_memory_is_short();  // while the file is still this process's own
    }
    // By number: glibc's functions would change all threads of the process that was forked.
    const bool changed = !setup.as_root || (::syscall(SYS_setgroups, 0, nullptr) == 0 &&
                                            ::syscall(SYS_setresgid, 0, 0, 0) == 0 &&
                                            ::syscall(SYS_setresuid, 0, 0, 0) == 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // after the change of ids, which forgets it
    ::umask(022);
    set_limits(*setup.limits);
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    for (int signal = 1; signal < NSIG; ++signal) {
        ::sigaction(signal, &action, nullptr);
    }
    sigset_t none{};
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    // Closes what a library has opened without O_CLOEXEC.
    ::syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
    for (const int descriptor : *setup.descriptors) {
        ::fcntl(descriptor, F_SETFD, 0);
    }
    const int standard_output = setup.standard_output >= 0 ? setup.standard_output : setup.output;
    const bool ready = changed && ::dup2(setup.input, STDIN_FILENO) >= 0 &&
                       ::dup2(standard_output, STDOUT_FILENO) >= 0 &&
                       ::dup2(setup.output, STDERR_FILENO) >= 0 &&
                       (setup.cwd == nullptr || ::chdir(setup.cwd) == 0);
    if (ready) {
        ::execve(setup.program, setup.argv, setup.envp);
    }
    const int code = errno;
    [[maybe_unused]] const ssize_t told = ::write(setup.failure, &code, sizeof(code));
    ::_exit(127);
}

EDGEGPU_ON_OTHER_STACK int run_child(void* setup) noexcept {
    become_program(*static_cast<const ChildSetup*>(setup));
}

/// No signal is delivered to this thread as long as an object of the class exists: handlers of this
/// process must not run in a child that shares its memory.
class SignalsBlocked {
public:
    SignalsBlocked() noexcept {
        sigset_t all{};
        sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;
    ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t before_{};
};

}  // namespace

pid_t start_program(const ChildSetup& setup) noexcept {
    // A change of ids clears the mark "dumpable" of memory, here that of this process. Without it,
    // its files in /proc belong to root. One child at a time: the mark is not set again while
    // another child shares the memory.
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    const int dumpable = ::prctl(PR_GET_DUMPABLE);
    alignas(16) std::array<std::byte, stack_size> stack;
    pid_t child = -1;
    int code = 0;
    {
        const SignalsBlocked blocked;
        child = ::clone(run_child, stack.data() + stack.size(), CLONE_VM | CLONE_VFORK | SIGCHLD,
                        const_cast<ChildSetup*>(&setup));
        code = errno;
    }
    if (dumpable == 1) {
        ::prctl(PR_SET_DUMPABLE, 1);
    }
    errno = code;
    return child;
}

}  // namespace edgegpu
