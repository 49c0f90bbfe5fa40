#include "gpu_health/program/supervise.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <exception>
#include <iostream>
#include <optional>

namespace edgegpu::gpu_health {

namespace {

using Clock = std::chrono::steady_clock;

/// Signals that are waited for instead of being delivered.
class BlockedSignals {
public:
    BlockedSignals() {
        ::sigemptyset(&set_);
        for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) {
            ::sigaddset(&set_, signal);
        }
        ::sigprocmask(SIG_BLOCK, &set_, &before_);
        // A SIGCHLD that is ignored is inherited, and then the status of the child is lost.
        ::signal(SIGCHLD, SIG_DFL);
    }
    ~BlockedSignals() { restore(); }
    BlockedSignals(const BlockedSignals&) = delete;
    BlockedSignals& operator=(const BlockedSignals&) = delete;
    void restore() const { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

    /// The next signal until then; nothing: there was none.
    [[nodiscard]] std::optional<int> wait_until(Clock::time_point end) const {
        for (;;) {
            const auto left = std::max(Clock::duration::zero(), end - Clock::now());
            const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
            timespec time{};
            time.tv_sec = seconds.count();
            time.tv_nsec = std::chrono::nanoseconds(left - seconds).count();
            const int signal = ::sigtimedwait(&set_, nullptr, &time);
            if (signal > 0) {
                return signal;
            }
            if (errno != EINTR) {
                return std::nullopt;
            }
        }
    }

private:
    sigset_t set_{};
    sigset_t before_{};
};

[[noreturn]] void work_and_end(const std::function<int()>& work, pid_t parent, int fault) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // NOLINT(cppcoreguidelines-pro-type-vararg)
    int status = fault;
    if (::getppid() == parent) {
        try {
            status = work();
        } catch (const std::exception& problem) {
            std::cerr << "gpu-health: " << problem.what() << '\n';
        } catch (...) {
            std::cerr << "gpu-health: failed\n";
        }
    }
    std::cout.flush();
    std::cerr.flush();
    ::_exit(status);
}

/// The exit status of a child that has ended, `fault` if a signal ended it; nothing: it has not.
std::optional<int> status_of(pid_t child, int fault) {
    int status = 0;
    if (::waitpid(child, &status, WNOHANG) != child) {
        return std::nullopt;
    }
    if (WIFEXITED(status)) {
        return WEXITSTATUS(status);
    }
    std::cerr << "gpu-health: ended by signal " << WTERMSIG(status) << '\n';
    return fault;
}

void end_child(pid_t child, const BlockedSignals& signals) {
    ::kill(child, SIGKILL);
    const auto end = Clock::now() + std::chrono::milliseconds(500);
    while (::waitpid(child, nullptr, WNOHANG) == 0 && signals.wait_until(end)) {
    }
}

}  // namespace

int supervise(const std::function<int()>& work, std::chrono::seconds deadline, int fault) {
    const BlockedSignals signals;
    const auto end = Clock::now() + deadline;
    const pid_t self = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) {
        std::cerr << "gpu-health: it cannot start a process: " << std::strerror(errno)
                  << '\n';  // NOLINT(concurrency-mt-unsafe)
        return fault;
    }
    if (child == 0) {
        signals.restore();
        work_and_end(work, self, fault);
    }
    for (;;) {
        const std::optional<int> signal = signals.wait_until(end);
        if (const auto status = status_of(child, fault)) {
            return *status;
        }
        if (!signal || *signal != SIGCHLD) {
            end_child(child, signals);
            std::cerr << "gpu-health: "
                      << (signal ? "ended before it had a verdict"
                                 : "it did not end within its deadline")
                      << '\n';
            return fault;
        }
    }
}

}  // namespace edgegpu::gpu_health
