#include "execution/child_call.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "execution/process.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/handles.hpp"

namespace edgegpu {

namespace {

// Exit statuses of the child. Sanitizers and libFuzzer, which end a process as well, have others.
constexpr int status_returned = 0;
constexpr int status_refused = 40;
constexpr int status_exhausted = 41;

/// The first argument of such a child; no command has this name.
constexpr std::string_view child_mark = "--edgegpu-child-call";

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

/// Numbers of the limits, as arguments of the child.
std::uint64_t number_of(const char* text) {
    std::uint64_t number = 0;
    const std::string_view digits(text);
    if (std::from_chars(digits.data(), digits.data() + digits.size(), number).ec != std::errc()) {
        ::_exit(status_exhausted);
    }
    return number;
}

/// The child's limits are relative to what it has: the libraries of this program, and the shadow
/// memory of sanitizers.
void limit_child(std::uint64_t memory, std::uint64_t seconds) {
    ::signal(SIGXCPU, SIG_DFL);
    ::signal(SIGXFSZ, SIG_IGN);
    const std::uint64_t space = address_space();
    limit(RLIMIT_FSIZE, memory, memory);
    limit(RLIMIT_CPU, seconds, seconds + 1);
    limit(RLIMIT_AS, space + memory, space + memory);
}

int make_call(ChildFunction::Call call, std::uint64_t memory, std::uint64_t seconds,
              const std::string& called) {
    // An empty input is /dev/null (ProcessRequest::input).
    struct stat status {};
    const std::string input = ::fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode)
                                  ? read_file(STDIN_FILENO, "input")
                                  : std::string();
    limit_child(memory, seconds);
    try {
        return write_all(STDOUT_FILENO, call(input, called)) ? status_returned : status_exhausted;
    } catch (const Error& failure) {
        const bool written = write_all(STDOUT_FILENO, failure.message()) &&
                             write_all(STDOUT_FILENO, std::string_view("\0", 1)) &&
                             write_all(STDOUT_FILENO, failure.hint());
        return written ? status_refused : status_exhausted;
    }
}

ChildCall::End end_of(const ProcessResult& result) {
    if (result.ended == Ended::time || result.status == 128 + SIGXCPU) {
        return ChildCall::End::exhausted;
    }
    switch (result.status) {
        case status_returned:
            return ChildCall::End::returned;
        case status_refused:
            return ChildCall::End::refused;
        case status_exhausted:
            return ChildCall::End::exhausted;
        default:
            return ChildCall::End::crashed;
    }
}

/// The loader's and the sanitizers' variables; no other changes what the child does.
std::vector<std::string> child_environment() {
    std::vector<std::string> result{"PATH=/usr/bin:/bin", "LC_ALL=C", "TZ=UTC"};
    for (const char* name : {"LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS"}) {
        if (const char* value = std::getenv(name); value != nullptr) {
            result.push_back(std::string(name) + '=' + value);
        }
    }
    return result;
}

const ChildFunction*& first_function() noexcept {
    static const ChildFunction* first = nullptr;
    return first;
}

}  // namespace

ChildFunction::ChildFunction(const char* name, Call call) noexcept
    : name_(name), call_(call), next_(first_function()) {
    first_function() = this;
}

void serve_child_call(int argc, char** argv) {
    if (argc != 6 || std::string_view(argv[1]) != child_mark) {
        return;
    }
    int status = status_exhausted;
    try {
        for (const ChildFunction* one = first_function(); one != nullptr; one = one->next_) {
            if (std::string_view(one->name_) == argv[2]) {
                status = make_call(one->call_, number_of(argv[3]), number_of(argv[4]), argv[5]);
            }
        }
    } catch (...) {
        // std::bad_alloc, or std::length_error for a container that would be larger.
        status = status_exhausted;
    }
    // Without destructors: to free what a library has built takes as long as the call.
    ::_exit(status);
}

ChildCall call_in_child(const Context& ctx, const ChildFunction& function, std::string input,
                        const std::string& called, const ChildLimits& limits,
                        const std::vector<int>& descriptors) {
    // Not a pipe: nobody has to read while the other writes.
    const Fd output(::memfd_create("edgegpu-result", MFD_CLOEXEC));
    if (!output) {
        throw errno_error("memfd_create", errno);
    }
    ProcessRequest request;
    // The program that runs now, even if its file was replaced meanwhile.
    request.argv = {"/proc/self/exe",
                    std::string(child_mark),
                    function.name(),
                    std::to_string(limits.memory),
                    std::to_string(limits.time.count()),
                    called};
    request.env = child_environment();
    request.purpose = called;
    request.input = std::move(input);
    request.standard_output = output.get();
    request.descriptors = descriptors;
    request.limits.time = limits.elapsed;
    const ProcessResult result = run_process(ctx, request);
    ChildCall ended{end_of(result), {}, {}, result.output};
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
