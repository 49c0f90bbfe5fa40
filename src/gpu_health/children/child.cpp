#include "gpu_health/children/child.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <exception>
#include <string_view>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace edgegpu::gpu_health {

namespace {

using Clock = std::chrono::steady_clock;

/// Of each of the two streams, for a program and for a function, which gives back facts: a kernel's
/// log of 2200 long lines is larger than a MiB.
constexpr std::size_t most_of_program = 1UL << 20U;
constexpr std::size_t most_of_function = 16UL << 20U;
/// What a killed child has to end; one in the driver may never do.
constexpr std::chrono::milliseconds grace{300};

/// A descriptor that is closed.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() { close(); }
    void close() {
        if (number_ >= 0) {
            ::close(std::exchange(number_, -1));
        }
    }
    [[nodiscard]] int get() const { return number_; }

private:
    int number_ = -1;
};

struct Pipe {
    Descriptor read;
    Descriptor write;
    /// Nothing below 3, where this process may have nothing open; false: errno says why.
    bool open() {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
            return false;
        }
        const Descriptor first(ends[0]);
        const Descriptor second(ends[1]);
        read = Descriptor(::fcntl(ends[0], F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
        write = Descriptor(::fcntl(ends[1], F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
        return read.get() >= 0 && write.get() >= 0 && ::fcntl(read.get(), F_SETFL, O_NONBLOCK) == 0;
    }
};

/// While SIGCHLD is ignored, which is inherited, the kernel keeps no status of a child.
class ChildrenHaveStatus {
public:
    ChildrenHaveStatus() {
        struct sigaction usual {};
        usual.sa_handler = SIG_DFL;
        ::sigaction(SIGCHLD, &usual, &before_);
    }
    ~ChildrenHaveStatus() { ::sigaction(SIGCHLD, &before_, nullptr); }
    ChildrenHaveStatus(const ChildrenHaveStatus&) = delete;
    ChildrenHaveStatus& operator=(const ChildrenHaveStatus&) = delete;

private:
    struct sigaction before_ {};
};

void write_all(int file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t put = ::write(file, text.data(), text.size());
        if (put > 0) {
            text.remove_prefix(static_cast<std::size_t>(put));
        } else if (errno != EINTR) {
            return;
        }
    }
}

/// The child: a group of its own, nothing to read, both streams, and signals as programs expect.
void become_child(int output, int errors) {
    ::setpgid(0, 0);
    // SIGTERM for gpu-health ends what it has started as well.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    for (const int number : {SIGPIPE, SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
        std::signal(number, SIG_DFL);
    }
    const struct rlimit no_core {};
    ::setrlimit(RLIMIT_CORE, &no_core);
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing > STDIN_FILENO) {
        ::dup2(nothing, STDIN_FILENO);
    } else if (nothing == STDIN_FILENO) {
        ::fcntl(STDIN_FILENO, F_SETFD, 0);
    }
    ::dup2(output, STDOUT_FILENO);
    ::dup2(errors, STDERR_FILENO);
}

/// What this process inherited is not for the program: a lock that a hung one kept would stay.
void keep_descriptors_back() {
    constexpr int most = 1024;
    for (int number = STDERR_FILENO + 1; number < most; ++number) {
        ::fcntl(number, F_SETFD, FD_CLOEXEC);
    }
}

/// A child that has been started, and what it has written.
class Child {
public:
    Child(pid_t process, Pipe output, Pipe errors, std::size_t most_output)
        : process_(process),
          most_output_(most_output),
          pidfd_(static_cast<int>(::syscall(SYS_pidfd_open, process, 0))),
          streams_{{{std::move(output.read), {}}, {std::move(errors.read), {}}}} {
        // Both sides do it, since neither knows which is first.
        ::setpgid(process, process);
    }

    /// Waits until it ends, at most until then: whether it has.
    bool wait_until(Clock::time_point end) {
        for (;;) {
            if (has_ended()) {
                return true;
            }
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
            if (left.count() <= 0) {
                return false;
            }
            wait_for_something(left);
            for (Stream& stream : streams_) {
                read(stream);
            }
        }
    }

    /// SIGKILL, to it and to what it has started.
    void kill() const {
        ::kill(-process_, SIGKILL);
        ::kill(process_, SIGKILL);
    }

    /// The status of one that has ended. Its group goes first, while it keeps the number taken.
    [[nodiscard]] int status() {
        ::kill(-process_, SIGKILL);
        int status = 0;
        while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
        }
        return status;
    }

    /// What it wrote: what is in the pipes now. Grandchildren may keep them open for ever.
    std::pair<std::string, std::string> take_text() {
        for (Stream& stream : streams_) {
            // A pipe holds at most a MiB unless somebody goes on writing.
            for (int round = 0; round < 64 && read(stream); ++round) {
            }
        }
        return {std::move(streams_[0].text), std::move(streams_[1].text)};
    }

private:
    struct Stream {
        Descriptor file;
        std::string text;
    };

    [[nodiscard]] bool has_ended() const {
        siginfo_t state{};
        const int done =
            ::waitid(P_PID, static_cast<id_t>(process_), &state, WEXITED | WNOHANG | WNOWAIT);
        // ECHILD: somebody else took its status.
        return done == 0 ? state.si_pid == process_ : errno != EINTR;
    }

    void wait_for_something(std::chrono::milliseconds most) {
        std::array<pollfd, 3> files{{{streams_[0].file.get(), POLLIN, 0},
                                     {streams_[1].file.get(), POLLIN, 0},
                                     {pidfd_.get(), POLLIN, 0}}};
        // Linux before 5.3 has no descriptors of processes.
        constexpr std::chrono::milliseconds look_again{10};
        const auto time = pidfd_.get() < 0 ? std::min(most, look_again) : most;
        ::poll(files.data(), files.size(), static_cast<int>(time.count()));
    }

    /// Reads once, and forgets what is too much; false: there is nothing now.
    bool read(Stream& stream) const {
        std::array<char, 65536> buffer;  // NOLINT(*-member-init): 64 KiB at each call
        if (stream.file.get() < 0) {
            return false;
        }
        const ssize_t got = ::read(stream.file.get(), buffer.data(), buffer.size());
        if (got > 0) {
            stream.text.append(buffer.data(), std::min(static_cast<std::size_t>(got),
                                                       most_output_ - stream.text.size()));
            return true;
        }
        if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
            stream.file.close();
        }
        return false;
    }

    pid_t process_;
    std::size_t most_output_;
    Descriptor pidfd_;
    std::array<Stream, 2> streams_;
};

void end_with(ChildResult& result, int status) {
    result.end = WIFSIGNALED(status) ? ChildEnd::crashed : ChildEnd::ended;
    result.status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

/// Runs `work` in a child; if it returns, that is the exit status.
template <typename Work>
ChildResult run(std::chrono::milliseconds deadline, std::size_t most_output, const Work& work) {
    ChildResult result;
    const auto begin = Clock::now();
    const ChildrenHaveStatus children_have_status;
    Pipe output;
    Pipe errors;
    const bool open = output.open() && errors.open();
    const pid_t process = open ? ::fork() : -1;
    if (process < 0) {
        result.errors = std::strerror(errno);
        return result;
    }
    if (process == 0) {
        become_child(output.write.get(), errors.write.get());
        ::_exit(work());
    }
    output.write.close();
    errors.write.close();
    Child child(process, std::move(output), std::move(errors), most_output);
    if (child.wait_until(begin + deadline)) {
        end_with(result, child.status());
    } else {
        result.end = ChildEnd::hung;
        child.kill();
        if (child.wait_until(Clock::now() + grace)) {
            static_cast<void>(child.status());
        }
    }
    std::tie(result.output, result.errors) = child.take_text();
    result.milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    return result;
}

}  // namespace

ChildResult run_program(const std::vector<std::string>& argv, std::chrono::milliseconds deadline) {
    if (argv.empty()) {
        return {ChildEnd::missing, 0, {}, "no program", 0};
    }
    std::vector<char*> arguments;
    arguments.reserve(argv.size() + 1);
    for (const std::string& argument : argv) {
        arguments.push_back(const_cast<char*>(argument.c_str()));  // NOLINT(*-const-cast): execv
    }
    arguments.push_back(nullptr);
    // It stays empty if the program is executed.
    Pipe failure;
    if (!failure.open()) {
        return {ChildEnd::not_run, 0, {}, std::strerror(errno), 0};
    }
    ChildResult result = run(deadline, most_of_program, [&] {
        keep_descriptors_back();
        // A path is executed as it is; execvp() would give an empty file to a shell.
        if (argv.front().find('/') != std::string::npos) {
            ::execv(arguments.front(), arguments.data());
        } else {
            ::execvp(arguments.front(), arguments.data());
        }
        const int code = errno;
        write_all(failure.write.get(), {reinterpret_cast<const char*>(&code),
                                        sizeof code});  // NOLINT(*-reinterpret-cast)
        return 127;
    });
    int code = 0;
    if (::read(failure.read.get(), &code, sizeof code) == sizeof code) {
        result.end = ChildEnd::missing;
        result.status = 0;
        result.errors = argv.front() + ": " + std::strerror(code);
    }
    return result;
}

ChildResult run_function(const std::function<std::string()>& function,
                         std::chrono::milliseconds deadline) {
    return run(deadline, most_of_function, [&] {
        try {
            write_all(STDOUT_FILENO, function());
            return 0;
        } catch (const std::exception& error) {
            write_all(STDERR_FILENO, error.what());
        } catch (...) {
            write_all(STDERR_FILENO, "an exception of no known kind");
        }
        return 1;
    });
}

}  // namespace edgegpu::gpu_health
