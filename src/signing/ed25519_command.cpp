#include "signing/ed25519_command.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "signing/gpg_signature.hpp"
#include "support/ed25519.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/handles.hpp"
#include "support/text/shell_text.hpp"

namespace edgegpu {

namespace {

using Clock = std::chrono::steady_clock;

/// Less than a build waits for the signing process (Signer::patience).
constexpr std::chrono::seconds command_limit{100};
constexpr std::size_t ed25519_signature_size = 64;
constexpr std::uint64_t largest_public_key_file = 1U << 20U;
/// Of a child that could not become the program, as of a shell.
constexpr int no_program = 127;

struct Pipe {
    Fd reading;
    Fd writing;
};

Pipe make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw errno_error("pipe", errno);
    }
    return {Fd(ends[0]), Fd(ends[1])};
}

/// A child process that is killed and waited for, unless it has ended.
class Child {
public:
    explicit Child(pid_t pid) : pid_(pid) {}
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        if (pid_ > 0) {
            ::kill(pid_, SIGKILL);
            while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
            }
        }
    }

    /// Its status as of waitpid(2); nothing if it has not ended by then.
    std::optional<int> wait_until(Clock::time_point end) {
        constexpr int pause = 5;  // milliseconds
        int status = 0;
        for (pid_t found = 0; found != pid_; found = ::waitpid(pid_, &status, WNOHANG)) {
            if (found < 0 && errno != EINTR) {
                throw errno_error("waitpid", errno);
            }
            if (Clock::now() >= end) {
                return std::nullopt;
            }
            ::poll(nullptr, 0, pause);
        }
        pid_ = -1;
        return status;
    }

private:
    pid_t pid_;
};

/// In the child.
[[noreturn]] void become(const std::filesystem::path& program, int input, int output) {
    if (::dup2(input, STDIN_FILENO) < 0 || ::dup2(output, STDOUT_FILENO) < 0) {
        ::_exit(no_program);
    }
    ::signal(SIGPIPE, SIG_DFL);
    const char* const arguments[] = {program.c_str(), nullptr};
    ::execv(program.c_str(), const_cast<char* const*>(arguments));
    ::_exit(no_program);
}

/// What the program writes, which reads `content` meanwhile, or not; up to one byte more than a
/// signature has. Nothing if it takes too long.
bool exchange(Fd input, const Fd& output, std::string_view content, Clock::time_point end,
              std::string& written) {
    ::fcntl(input.get(), F_SETFL, O_NONBLOCK);
    std::array<char, 256> buffer;
    while (written.size() <= ed25519_signature_size) {
        if (content.empty()) {
            input.reset();
        }
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
        if (left.count() <= 0) {
            return false;
        }
        std::array<pollfd, 2> events{{{output.get(), POLLIN, 0}, {input.get(), POLLOUT, 0}}};
        if (::poll(events.data(), input ? 2 : 1, static_cast<int>(left.count())) < 0 &&
            errno != EINTR) {
            throw errno_error("poll", errno);
        }
        if (input && events[1].revents != 0) {
            const ssize_t put = ::write(input.get(), content.data(), content.size());
            if (put > 0) {
                content.remove_prefix(static_cast<std::size_t>(put));
            } else if (put < 0 && errno != EAGAIN && errno != EINTR) {
                content = {};  // it reads no more, and has to say why
            }
        }
        if (events[0].revents != 0) {
            const ssize_t got = ::read(output.get(), buffer.data(), buffer.size());
            if (got == 0) {
                return true;
            }
            written.append(buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
        }
    }
    return true;
}

}  // namespace

Ed25519Command::Ed25519Command(std::filesystem::path program,
                               const std::filesystem::path& public_keys)
    : program_(std::move(program)) {
    const std::vector<std::string> keys =
        read_ed25519_keys(read_file(public_keys, largest_public_key_file));
    if (keys.empty()) {
        throw error(ErrorKind::usage, "{}: no public ed25519 key", public_keys.string());
    }
    const std::string trial = output(trial_text);
    for (const std::string& key : keys) {
        if (verifies_ed25519({key}, trial_text, trial)) {
            public_key_ = key;
            return;
        }
    }
    throw error(ErrorKind::usage, "{}: what it signs is verified by no key in {}",
                program_.string(), public_keys.string())
        .hinted("export the public half of the key that it uses");
}

std::string Ed25519Command::output(std::string_view content) const {
    Pipe input = make_pipe();
    Pipe output = make_pipe();
    const pid_t pid = ::fork();
    if (pid < 0) {
        throw errno_error("fork", errno);
    }
    if (pid == 0) {
        become(program_, input.reading.get(), output.writing.get());
    }
    Child child(pid);
    input.reading.reset();
    output.writing.reset();
    const Clock::time_point end = Clock::now() + command_limit;
    std::string written;
    std::optional<int> ended;
    if (exchange(std::move(input.writing), output.reading, content, end, written)) {
        output.reading.reset();
        ended = child.wait_until(end);
    }
    if (!ended) {
        throw error("{}: has not ended after {} seconds", program_.string(), command_limit.count());
    }
    const int status = *ended;
    const std::string by_hand = "try it: " + shell_word(program_.string()) + " < FILE > SIGNATURE";
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        throw error("{}: {}", program_.string(),
                    WIFEXITED(status) && WEXITSTATUS(status) == no_program ? "cannot be started"
                    : WIFEXITED(status) ? fmt::format("ended with status {}", WEXITSTATUS(status))
                                        : fmt::format("was ended by signal {}", WTERMSIG(status)))
            .hinted(by_hand);
    }
    if (written.size() != ed25519_signature_size) {
        throw error("{}: gave something that is not a signature of {} bytes", program_.string(),
                    ed25519_signature_size)
            .hinted(by_hand);
    }
    return written;
}

std::string Ed25519Command::signature(std::string_view content) const {
    std::string made = output(content);
    if (!verifies_ed25519({public_key_}, content, made)) {
        throw error("{}: gave a signature that its public key does not verify", program_.string());
    }
    return made;
}

}  // namespace edgegpu
