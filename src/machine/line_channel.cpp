#include "machine/line_channel.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "execution/pipe.hpp"
#include "support/error.hpp"

namespace edgegpu {

std::pair<Fd, Fd> make_channel() {
    std::pair<Fd, Fd> pair = make_sockets();
    if (::fcntl(pair.first.get(), F_SETFL, O_NONBLOCK) != 0) {
        throw errno_error("socketpair", errno);
    }
    return pair;
}

LineChannel::LineChannel(Fd socket, std::size_t longest)
    : socket_(std::move(socket)), longest_(longest) {}

void LineChannel::read() {
    std::array<char, 65536> buffer{};
    if (!socket_) {
        return;
    }
    const ssize_t got = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got > 0) {
        take({buffer.data(), static_cast<std::size_t>(got)});
    } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
        socket_.reset();
    }
}

void LineChannel::take(std::string_view bytes) {
    while (!bytes.empty()) {
        const std::size_t end = bytes.find('\n');
        const std::string_view part = bytes.substr(0, std::min(end, bytes.size()));
        if (!dropping_ && partial_.size() + part.size() > longest_) {
            dropping_ = true;
            ++dropped_;
            partial_.clear();
        }
        if (!dropping_) {
            partial_ += part;
        }
        if (end == std::string_view::npos) {
            return;
        }
        if (!dropping_) {
            if (partial_.ends_with('\r')) {
                partial_.pop_back();
            }
            lines_.push_back(std::exchange(partial_, {}));
        }
        dropping_ = false;
        bytes.remove_prefix(end + 1);
    }
}

std::optional<std::string> LineChannel::next() {
    if (lines_.empty()) {
        return std::nullopt;
    }
    std::string line = std::move(lines_.front());
    lines_.pop_front();
    return line;
}

void LineChannel::send(const Wait& wait, std::string_view text) {
    while (!text.empty()) {
        if (!socket_) {
            throw error("the connection was closed");
        }
        const ssize_t put = ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL);
        if (put >= 0) {
            text.remove_prefix(static_cast<std::size_t>(put));
        } else if (errno == EAGAIN) {
            wait.writable(socket_.get());
        } else if (errno != EINTR) {
            socket_.reset();
        }
    }
}

}  // namespace edgegpu
