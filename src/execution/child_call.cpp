#include "execution/child_call.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <new>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/error.hpp"
#include "support/file.hpp"
#include "support/handles.hpp"

namespace edgegpu {

namespace {

// Exit statuses of the child. Sanitizers and libFuzzer, which end a process as well, have others.
constexpr int status_returned = 0;
constexpr int status_refused = 40;
constexpr int status_exhausted = 41;

/// Address space of this process, in bytes.
std::uint64_t address_space() {
    // Not read_file: files of /proc have no size.
    const Fd file(::open("/proc/self/statm", O_RDONLY | O_CLOEXEC));
    std::array<char, 128> text{};
    const ssize_t got = file ? ::read(file.get(), text.data(), text.size()) : -1;
    std::uint64_t pages = 0;
    if (got <= 0 || std::from_chars(text.data(), text.data() + got, pages).ec != std::errc()) {
        throw errno_error("/proc/self/statm", got < 0 ? errno : EINVAL);
    }
    return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void limit(int resource, std::uint64_t soft, std::uint64_t hard) noexcept {
    rlimit now{};
    if (::getrlimit(static_cast<__rlimit_resource>(resource), &now) == 0) {
        now.rlim_max = std::min<rlim_t>(now.rlim_max, hard);
        now.rlim_cur = std::min<rlim_t>(now.rlim_max, soft);
        ::setrlimit(static_cast<__rlimit_resource>(resource), &now);
    }
}

bool write_all(int file, std::string_view data) noexcept {
    while (!data.empty()) {
        const ssize_t done = ::write(file, data.data(), data.size());
        if (done < 0 && errno != EINTR) {
            return false;
        }
        data.remove_prefix(done < 0 ? 0 : static_cast<std::size_t>(done));
    }
    return true;
}

/// The whole life of the child.
[[noreturn]] void make_call(const ChildLimits& limits, std::uint64_t space, pid_t parent,
                            int output, const std::function<std::string()>& call) noexcept {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) {
        ::_exit(status_exhausted);
    }
    // Ctrl-C and such are for the parent.
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
        ::signal(number, SIG_IGN);
    }
    ::signal(SIGXCPU, SIG_DFL);
    ::signal(SIGXFSZ, SIG_IGN);
    const auto seconds = static_cast<std::uint64_t>(limits.time.count());
    limit(RLIMIT_CORE, 0, 0);
    limit(RLIMIT_FSIZE, limits.memory, limits.memory);
    limit(RLIMIT_CPU, seconds, seconds + 1);
    limit(RLIMIT_AS, space + limits.memory, space + limits.memory);
    int status = status_exhausted;
    try {
        status = write_all(output, call()) ? status_returned : status_exhausted;
    } catch (const Error& failure) {
        const bool written = write_all(output, failure.message()) &&
                             write_all(output, std::string_view("\0", 1)) &&
                             write_all(output, failure.hint());
        status = written ? status_refused : status_exhausted;
    } catch (...) {
        // std::bad_alloc, or std::length_error for a container that would be larger.
        status = status_exhausted;
    }
    // No destructors: this is a copy of a process that goes on.
    ::_exit(status);
}

ChildCall::End end_of(int status) {
    if (WIFEXITED(status)) {
        const int code = WEXITSTATUS(status);
        return code == status_returned    ? ChildCall::End::returned
               : code == status_refused   ? ChildCall::End::refused
               : code == status_exhausted ? ChildCall::End::exhausted
                                          : ChildCall::End::crashed;
    }
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU ? ChildCall::End::exhausted
                                                              : ChildCall::End::crashed;
}

}  // namespace

ChildCall call_in_child(const ChildLimits& limits, const std::function<std::string()>& call) {
    // Not a pipe: nobody has to read while the other writes.
    const Fd output(::memfd_create("edgegpu-result", MFD_CLOEXEC));
    if (!output) {
        throw errno_error("memfd_create", errno);
    }
    const std::uint64_t space = address_space();
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) {
        throw errno_error("fork", errno);
    }
    if (child == 0) {
        make_call(limits, space, parent, output.get(), call);
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            throw errno_error("waitpid", errno);
        }
    }
    ChildCall ended{end_of(status), {}, {}};
    if (ended.end == ChildCall::End::returned || ended.end == ChildCall::End::refused) {
        ended.result = read_file(output.get(), "result of a child process", limits.memory);
    }
    if (ended.end == ChildCall::End::refused) {
        const std::size_t end = std::min(ended.result.find('\0'), ended.result.size());
        ended.hint = ended.result.substr(std::min(end + 1, ended.result.size()));
        ended.result.resize(end);
    }
    return ended;
}

}  // namespace edgegpu
