#include "support/process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/error.hpp"
#include "support/handles.hpp"
#include "support/kept_output.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view default_path =
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
constexpr std::size_t output_limit = 1U << 20U;
constexpr int cancellation_poll_ms = 100;
/// How long output of grandchildren that outlive the child is waited for.
constexpr std::chrono::milliseconds straggler_patience{500};

using CStrings = std::vector<char*>;

CStrings c_strings(const std::vector<std::string>& strings) {
    CStrings result;
    result.reserve(strings.size() + 1);
    for (const std::string& text : strings) {
        // execve(2) does not change its arguments, it only lacks const for C's sake.
        result.push_back(const_cast<char*>(text.c_str()));
    }
    result.push_back(nullptr);
    return result;
}

std::string find_program(const std::string& name, const std::vector<std::string>& env) {
    if (name.find('/') != std::string::npos) {
        return name;
    }
    std::string_view path = default_path;
    for (const std::string& variable : env) {
        if (variable.starts_with("PATH=")) {
            path = variable;
        }
    }
    path.remove_prefix(std::string_view("PATH=").size());
    while (!path.empty()) {
        const std::size_t end = std::min(path.find(':'), path.size());
        std::string candidate = std::string(path.substr(0, end)) + "/" + name;
        if (::access(candidate.c_str(), X_OK) == 0) {
            return candidate;
        }
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    throw error("{}: program not found", name)
        .hinted("install its package; scripts/setup installs everything that is needed");
}

/// A memory file rather than a pipe: it never blocks, never raises SIGPIPE, and programs may
/// seek in it or open /dev/stdin.
Fd standard_input(const std::string& input) {
    if (input.empty()) {
        Fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
        if (!null) {
            throw errno_error("/dev/null", errno);
        }
        return null;
    }
    Fd memory(::memfd_create("stdin", MFD_CLOEXEC));
    if (!memory) {
        throw errno_error("memory file for standard input", errno);
    }
    std::string_view rest = input;
    while (!rest.empty()) {
        const ssize_t put = ::write(memory.get(), rest.data(), rest.size());
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put < 0) {
            throw errno_error("memory file for standard input", errno);
        }
        rest.remove_prefix(static_cast<std::size_t>(put));
    }
    if (::lseek(memory.get(), 0, SEEK_SET) != 0) {
        throw errno_error("memory file for standard input", errno);
    }
    return memory;
}

std::pair<Fd, Fd> make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw errno_error("pipe", errno);
    }
    return {Fd(ends[0]), Fd(ends[1])};
}

struct ChildSetup {
    const char* program = nullptr;
    char* const* argv = nullptr;
    char* const* envp = nullptr;
    const char* cwd = nullptr;
    bool as_root = false;
    const std::vector<int>* descriptors = nullptr;
    const ProcessLimits* limits = nullptr;
    int input = -1;
    int output = -1;
    int failure = -1;
};

/// What the kernel itself watches over. A limit that is lower already stays.
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
        // More than what ends it, so that it is ended, and named, before it fails in some other
        // way. Counted for each user of a user namespace.
        set_limit(RLIMIT_NPROC, rlim_t{limits.processes} * 2);
    }
    if (limits.memory != 0) {
        set_limit(RLIMIT_DATA, limits.memory);
    }
}

/// Should the machine run out of memory all the same, then it is the one to go.
void go_first_when_memory_is_short() noexcept {
    const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file >= 0) {
        [[maybe_unused]] const ssize_t put = ::write(file, "1000", 4);
        ::close(file);
    }
}

/// Runs between fork and exec of a process that may have other threads: only calls that are
/// async-signal-safe.
[[noreturn]] void become_program(const ChildSetup& setup) noexcept {
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
    // Whatever a library opened without O_CLOEXEC stays here.
    ::syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
    for (const int descriptor : *setup.descriptors) {
        ::fcntl(descriptor, F_SETFD, 0);
    }
    const bool ready = changed && ::dup2(setup.input, STDIN_FILENO) >= 0 &&
                       ::dup2(setup.output, STDOUT_FILENO) >= 0 &&
                       ::dup2(setup.output, STDERR_FILENO) >= 0 &&
                       (setup.cwd == nullptr || ::chdir(setup.cwd) == 0);
    if (ready) {
        ::execve(setup.program, setup.argv, setup.envp);
    }
    const int code = errno;
    [[maybe_unused]] const ssize_t told = ::write(setup.failure, &code, sizeof(code));
    ::_exit(127);
}

/// What the log gets to know of a program, written when it ends, however that comes.
class ProgramRecord {
public:
    ProgramRecord(const Context& ctx, const ProcessRequest& request)
        : log_(ctx.log), request_(request), wanted_(ctx.log.wants(LogLevel::debug)) {}
    ProgramRecord(const ProgramRecord&) = delete;
    ProgramRecord& operator=(const ProgramRecord&) = delete;
    ~ProgramRecord() {
        if (wanted_) {
            write();
        }
    }

    void printed(std::string_view bytes) {
        if (wanted_) {
            output_.append(bytes);
        }
    }
    void ended(int status, Ended reason) {
        status_ = status;
        reason_ = reason;
    }

private:
    void write() const noexcept {
        try {
            const std::chrono::duration<double> time = std::chrono::steady_clock::now() - began_;
            std::vector<LogField> fields{
                {"argv", request_.inner_argv.empty() ? request_.argv : request_.inner_argv}};
            if (!request_.purpose.empty()) {
                fields.push_back({"of", request_.purpose});
            }
            if (!request_.inner_root.empty()) {
                fields.push_back({"root", request_.inner_root});
            }
            if (!request_.cwd.empty()) {
                fields.push_back({"directory", request_.cwd.string()});
            }
            fields.push_back({"seconds", time.count()});
            if (status_) {
                fields.push_back({"status", *status_});
            }
            if (!status_ || reason_ != Ended::normally) {
                fields.push_back({"ended_by", !status_ ? "edgegpu" : "limit"});
            }
            fields.push_back({"output_bytes", output_.total()});
            fields.push_back({"output", output_.text()});
            log_.debug("program", std::move(fields));
        } catch (...) {
            return;  // no memory for it: the program's own result counts
        }
    }

    const Log& log_;
    const ProcessRequest& request_;
    bool wanted_;
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    KeptOutput output_;
    std::optional<int> status_;
    Ended reason_ = Ended::normally;
};

/// A running child; killed with its process group and reaped when it goes.
class Child {
public:
    Child(pid_t pid, Fd output, const ProcessRequest& request, ProgramRecord& record)
        : pid_(pid),
          output_(std::move(output)),
          record_(record),
          watch_(request.limits, request.announcement) {}
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        if (pid_ > 0) {
            kill_group();
            static_cast<void>(watch_.end_all());
            discard_output();
            reap();
        }
    }

    /// Reads output until the child ended, by itself or by a limit; checks for cancellation in
    /// between.
    ProcessResult wait(const Context& ctx) {
        // By number: glibc 2.36 declares pidfd_open without C linkage.
        const Fd handle(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
        if (!handle) {
            throw errno_error("pidfd_open", errno);
        }
        bool ended = false;
        Ended reason = Ended::normally;
        while (!ended && reason == Ended::normally) {
            ctx.check_cancelled();
            std::array<pollfd, 3> events{pollfd{handle.get(), POLLIN, 0},
                                         pollfd{output_ ? output_.get() : -1, POLLIN, 0},
                                         pollfd{watch_.descriptor(), POLLIN, 0}};
            if (::poll(events.data(), events.size(), cancellation_poll_ms) < 0 && errno != EINTR) {
                throw errno_error("poll", errno);
            }
            if (events[1].revents != 0) {
                read_output();
            }
            if (events[2].revents != 0) {
                watch_.listen();
            }
            ended = events[0].revents != 0;
            reason = ended ? Ended::normally : watch_.check();
        }
        // The group's leader is not reaped yet, so its number still means this group: whatever it
        // left running in it ends now.
        kill_group();
        const bool all_gone = watch_.end_all();
        drain();
        const int status = reap();
        trim(output_limit);
        if (!all_gone) {
            throw Error("processes started by a program could not be killed");
        }
        const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        if (code == 128 + SIGXFSZ) {
            reason = Ended::file_size;
        }
        record_.ended(code, reason);
        return {code, std::move(text_), reason, watch_.announced()};
    }

private:
    void kill_group() const noexcept {
        ::kill(-pid_, SIGKILL);
        ::kill(pid_, SIGKILL);
    }

    int reap() noexcept {
        int status = 0;
        while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
        }
        pid_ = -1;
        return status;
    }

    void trim(std::size_t limit) {
        if (text_.size() > limit) {
            text_.erase(0, text_.size() - limit);
        }
    }

    void read_output() {
        std::array<char, 65536> buffer{};
        const ssize_t got = ::read(output_.get(), buffer.data(), buffer.size());
        if (got > 0) {
            const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
            record_.printed(bytes);
            text_ += bytes;
            if (text_.size() > 2 * output_limit) {
                trim(output_limit);
            }
        } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
            output_.reset();
        }
    }

    /// Takes what is left in the pipe. Ends at once when every writer is gone; a daemon that left
    /// the group and kept the pipe is not waited for longer than straggler_patience.
    void drain() {
        const auto deadline = std::chrono::steady_clock::now() + straggler_patience;
        while (output_) {
            const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                deadline - std::chrono::steady_clock::now());
            pollfd event{output_.get(), POLLIN, 0};
            if (left.count() <= 0 || ::poll(&event, 1, static_cast<int>(left.count())) == 0) {
                return;
            }
            read_output();
        }
    }

    /// Waits until the whole sandbox is gone: bubblewrap's own children end a little after it, and
    /// hold the pipe until then. Nobody may still use the image's root when it is unmounted.
    void discard_output() noexcept {
        const auto deadline = std::chrono::steady_clock::now() + straggler_patience;
        std::array<char, 65536> buffer{};
        while (output_) {
            const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                deadline - std::chrono::steady_clock::now());
            pollfd event{output_.get(), POLLIN, 0};
            if (left.count() <= 0 || ::poll(&event, 1, static_cast<int>(left.count())) == 0 ||
                ::read(output_.get(), buffer.data(), buffer.size()) == 0) {
                return;
            }
        }
    }

    pid_t pid_;
    Fd output_;
    std::string text_;
    ProgramRecord& record_;
    ProcessWatch watch_;
};

}  // namespace

ProcessResult run_process(const Context& ctx, const std::vector<std::string>& argv,
                          const std::vector<std::string>& env, const std::string& input,
                          const std::filesystem::path& cwd) {
    ProcessRequest request;
    request.argv = argv;
    request.env = env;
    request.input = input;
    request.cwd = cwd;
    return run_process(ctx, request);
}

ProcessResult run_process(const Context& ctx, const ProcessRequest& request) {
    ctx.check_cancelled();
    if (request.argv.empty()) {
        throw error("no program to run");
    }
    ProgramRecord record(ctx, request);
    const std::vector<std::string> minimal{std::string(default_path), "LC_ALL=C", "TZ=UTC"};
    const std::vector<std::string>& environment = request.env.empty() ? minimal : request.env;
    const std::string program = find_program(request.argv.front(), environment);
    const CStrings c_argv = c_strings(request.argv);
    const CStrings c_env = c_strings(environment);
    const Fd in = standard_input(request.input);
    auto [output_read, output_write] = make_pipe();
    auto [failure_read, failure_write] = make_pipe();
    // A program may open its output again, as /dev/stderr.
    if (request.as_root_of_namespace && ::fchown(output_write.get(), 0, 0) != 0) {
        throw errno_error("pipe", errno);
    }

    ChildSetup setup;
    setup.program = program.c_str();
    setup.argv = c_argv.data();
    setup.envp = c_env.data();
    setup.cwd = request.cwd.empty() ? nullptr : request.cwd.c_str();
    setup.as_root = request.as_root_of_namespace;
    setup.descriptors = &request.descriptors;
    setup.limits = &request.limits;
    setup.input = in.get();
    setup.output = output_write.get();
    setup.failure = failure_write.get();
    const pid_t pid = ::fork();
    if (pid < 0) {
        throw errno_error("fork", errno);
    }
    if (pid == 0) {
        become_program(setup);
    }
    ::setpgid(pid, pid);  // in both processes, so that no kill comes too early
    output_write.reset();
    failure_write.reset();
    Child child(pid, std::move(output_read), request, record);
    int code = 0;
    ssize_t got = 0;
    while ((got = ::read(failure_read.get(), &code, sizeof(code))) < 0 && errno == EINTR) {
    }
    if (got == static_cast<ssize_t>(sizeof(code))) {
        throw errno_error(
            request.cwd.empty() ? program : program + " (in " + request.cwd.string() + ")", code);
    }
    return child.wait(ctx);
}

}  // namespace edgegpu
