#include "machine/console_log.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {

ConsoleLog::ConsoleLog(std::vector<Fd> consoles, const std::filesystem::path& file,
                       std::uint64_t limit)
    : consoles_(std::move(consoles)),
      file_(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644)),
      left_(limit) {
    if (!file_) {
        throw errno_error(file.string(), errno);
    }
    stop_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!stop_) {
        throw errno_error("eventfd", errno);
    }
    thread_ = std::jthread([this] { read_all(); });
}

ConsoleLog::~ConsoleLog() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t put = ::write(stop_.get(), &one, sizeof(one));
}

ConsoleProgress ConsoleLog::progress() const {
    const std::lock_guard lock(mutex_);
    return progress_;
}

void ConsoleLog::restart() {
    const std::lock_guard lock(mutex_);
    progress_.restart();
}

bool ConsoleLog::read(int console) {
    std::array<char, 16384> buffer{};
    const ssize_t got = ::recv(console, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got <= 0) {
        return got < 0 && (errno == EAGAIN || errno == EINTR);
    }
    const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
    const std::uint64_t kept = std::min<std::uint64_t>(left_, bytes.size());
    // A full disk does not end the guest.
    if (kept != 0 && write_all(file_.get(), bytes.substr(0, kept))) {
        left_ -= kept;
    }
    const std::lock_guard lock(mutex_);
    progress_.take(bytes);
    return true;
}

void ConsoleLog::read_all() {
    for (bool stopping = false; !stopping;) {
        std::vector<pollfd> wanted{{stop_.get(), POLLIN, 0}};
        for (const Fd& console : consoles_) {
            wanted.push_back({console.get(), POLLIN, 0});
        }
        if (::poll(wanted.data(), wanted.size(), -1) < 0) {
            continue;
        }
        stopping = wanted[0].revents != 0;
        for (std::size_t i = 0; i < consoles_.size(); ++i) {
            if (wanted[i + 1].revents != 0 && !read(consoles_[i].get())) {
                consoles_[i].reset();
            }
        }
    }
}

}  // namespace edgegpu
