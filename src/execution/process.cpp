#include "execution/process.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "execution/pipe.hpp"
#include "execution/program_record.hpp"
#include "execution/program_start.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/files/file_content.hpp"
#include "support/handles.hpp"

namespace edgegpu {

namespace {

constexpr std::size_t output_limit = 1U << 20U;
constexpr int cancellation_poll_ms = 100;
/// How long to wait for output of grandchildren that outlive the child.
constexpr std::chrono::milliseconds straggler_patience{500};

/// A memory file rather than a pipe: it never blocks, never raises SIGPIPE, and programs may
/// seek in it or open /dev/stdin.
Fd standard_input(const std::string& input) {
    if (input.empty()) {
        Fd null = open_to_read("/dev/null");
        return null;
    }
    return memory_file("standard input", input);
}

/// A running child; killed with its process group and reaped when it goes.
class Child {
public:
    Child(pid_t pid, Fd output, const ProcessRequest& request, ProgramRecord& record)
        : pid_(pid),
          output_(std::move(output)),
          purpose_(request.purpose),
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
        // The group's leader is not reaped yet, so its number still means this group: whatever is
        // still running in it is killed now.
        kill_group();
        const bool all_gone = watch_.end_all();
        drain();
        const int status = reap();
        trim(output_limit);
        if (!all_gone) {
            throw error("{}: processes that it started could not be killed",
                        purpose_.empty() ? "a program" : purpose_)
                .hinted("is the machine overloaded? Build again");
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

    /// Reads the rest of the pipe. Returns as soon as every writer is gone, and after
    /// straggler_patience if a daemon that left the group keeps it open.
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
    std::string purpose_;
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
    const Fd in = standard_input(request.input);
    auto [output_read, output_write] = make_pipe();
    // A program may open its output again, as /dev/stderr.
    if (request.as_root_of_namespace && ::fchown(output_write.get(), 0, 0) != 0) {
        throw errno_error("pipe", errno);
    }
    const pid_t pid = start_process(request, in.get(), output_write.get());
    output_write.reset();
    Child child(pid, std::move(output_read), request, record);
    return child.wait(ctx);
}

}  // namespace edgegpu
