#include "commands/build/build_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "execution/pipe.hpp"
#include "support/error.hpp"
#include "support/files/file_content.hpp"
#include "support/ranges.hpp"

namespace edgegpu {

namespace {

/// A document has a few KiB; longer output is not one.
constexpr std::size_t most_kept = 16U << 20U;
/// The descriptor of the new process for progress.
constexpr int progress_number = 3;

/// In the new process, between fork and exec: nothing but system calls, as other threads of the old
/// one may have held any lock.
[[noreturn]] void become(char* const* argv, pid_t parent, const std::array<int, 4>& descriptors) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) {
        ::_exit(128 + SIGTERM);
    }
    // To numbers that none of them has yet, so that no dup2 closes a descriptor needed later.
    std::array<int, 4> high{};
    for (std::size_t i = 0; i < descriptors.size(); ++i) {
        high[i] = ::fcntl(descriptors[i], F_DUPFD_CLOEXEC, 16);
    }
    for (int number = 0; number < 4; ++number) {
        if (::dup2(high[static_cast<std::size_t>(number)], number) != number) {
            ::_exit(127);
        }
    }
    ::execv("/proc/self/exe", argv);
    ::_exit(127);
}

}  // namespace

BuildProcess::BuildProcess(std::vector<std::string> argv) {
    std::ranges::replace(argv, std::string("@progress"), std::to_string(progress_number));
    std::vector<char*> words = mapped(argv, [](std::string& word) { return word.data(); });
    words.push_back(nullptr);
    const Fd nothing = open_to_read("/dev/null");
    auto [output, output_end] = make_pipe(EmptyPipe::fails);
    auto [messages, messages_end] = make_pipe(EmptyPipe::fails);
    auto [progress, progress_end] = make_pipe(EmptyPipe::fails);
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ < 0) {
        throw errno_error("fork", errno);
    }
    if (pid_ == 0) {
        become(words.data(), parent,
               {nothing.get(), output_end.get(), messages_end.get(), progress_end.get()});
    }
    output_.file = std::move(output);
    messages_.file = std::move(messages);
    progress_.file = std::move(progress);
}

BuildProcess::~BuildProcess() {
    if (pid_ > 0) {
        ::kill(pid_, SIGKILL);
        while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
}

std::vector<int> BuildProcess::descriptors() const {
    std::vector<int> found;
    for (const Stream* stream : {&output_, &messages_, &progress_}) {
        if (stream->file) {
            found.push_back(stream->file.get());
        }
    }
    return found;
}

void BuildProcess::read(Stream& stream) {
    std::array<char, 65536> buffer{};
    while (stream.file) {
        const ssize_t got = ::read(stream.file.get(), buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0 && errno == EAGAIN) {
            return;
        }
        if (got <= 0) {
            stream.file = Fd();
            return;
        }
        stream.text.append(buffer.data(), static_cast<std::size_t>(got));
        if (stream.text.size() > most_kept) {
            stream.text.erase(0, stream.text.size() - most_kept);
        }
    }
}

void BuildProcess::read() {
    for (Stream* stream : {&output_, &messages_, &progress_}) {
        read(*stream);
    }
}

std::vector<std::string> BuildProcess::take_progress() {
    std::vector<std::string> lines;
    std::size_t begin = 0;
    for (std::size_t end = progress_.text.find('\n'); end != std::string::npos;
         end = progress_.text.find('\n', begin)) {
        lines.push_back(progress_.text.substr(begin, end - begin));
        begin = end + 1;
    }
    progress_.text.erase(0, begin);
    return lines;
}

bool BuildProcess::ended() const {
    return !output_.file && !messages_.file && !progress_.file;
}

void BuildProcess::interrupt() {
    // A second one would end it at once, before it has cleaned up.
    if (pid_ > 0 && !std::exchange(interrupted_, true)) {
        ::kill(pid_, SIGTERM);
    }
}

int BuildProcess::wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0) {
        if (errno != EINTR) {
            throw errno_error("waitpid", errno);
        }
    }
    pid_ = -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace edgegpu
