#include "execution/background_process.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "execution/pipe.hpp"
#include "execution/program_start.hpp"
#include "support/error.hpp"
#include "support/files/file_content.hpp"

namespace edgegpu {

namespace {

constexpr std::size_t kept_in_background = 64UL << 10U;

}  // namespace

BackgroundProcess::BackgroundProcess(const Context& ctx, ProcessRequest request)
    : request_(std::move(request)), record_(ctx, request_) {
    ctx.check_cancelled();
    const Fd input = open_to_read("/dev/null");
    auto [reading, writing] = make_pipe();
    if (::fcntl(reading.get(), F_SETFL, O_NONBLOCK) != 0) {
        throw errno_error("pipe", errno);
    }
    pid_ = start_process(request_, input.get(), writing.get());
    output_ = std::move(reading);
}

BackgroundProcess::~BackgroundProcess() {
    kill();
}

void BackgroundProcess::reaped(int status) {
    pid_ = -1;
    status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    record_.ended(*status_, Ended::normally);
}

std::optional<int> BackgroundProcess::status() {
    read_output();
    if (pid_ > 0) {
        siginfo_t ended{};
        if (::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            ended.si_pid == pid_) {
            // Not reaped yet, so its number still means its group.
            ::kill(-pid_, SIGKILL);
            int status = 0;
            while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
            }
            reaped(status);
            read_output();
        }
    }
    return status_;
}

const std::string& BackgroundProcess::output() {
    read_output();
    return text_;
}

void BackgroundProcess::kill() noexcept {
    if (pid_ > 0) {
        ::kill(-pid_, SIGKILL);
        ::kill(pid_, SIGKILL);
        int status = 0;
        while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
        }
        pid_ = -1;
        status_ = 128 + SIGKILL;
    }
}

void BackgroundProcess::read_output() {
    std::array<char, 4096> buffer{};
    // A program that never stops writing does not hold its caller up for ever.
    for (int reads = 0; output_ && reads < 256; ++reads) {
        const ssize_t got = ::read(output_.get(), buffer.data(), buffer.size());
        if (got > 0) {
            const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
            record_.printed(bytes);
            text_ += bytes;
            if (text_.size() > kept_in_background) {
                text_.erase(0, text_.size() - kept_in_background);
            }
        } else if (got < 0 && errno == EINTR) {
            continue;
        } else if (got < 0 && errno == EAGAIN) {
            return;
        } else {
            output_.reset();
        }
    }
}

}  // namespace edgegpu
