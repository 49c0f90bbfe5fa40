#include "signing/channel.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <poll.h>
#include <sys/socket.h>

#include "support/error.hpp"

namespace edgegpu {

namespace {

constexpr int poll_ms = 50;
constexpr std::uint32_t most_fields = 256;

template <typename Number>
std::string_view bytes_of(const Number& number) {
    return {reinterpret_cast<const char*>(&number), sizeof number};
}

}  // namespace

void Channel::wait(short event) const {
    const auto began = std::chrono::steady_clock::now();
    for (;;) {
        if (cancelled_ != nullptr && cancelled_->load(std::memory_order_relaxed)) {
            throw Error(ErrorKind::interrupted, "interrupted");
        }
        pollfd events{socket_.get(), event, 0};
        const bool looks = cancelled_ != nullptr || patience_.count() > 0;
        const int ready = ::poll(&events, 1, looks ? poll_ms : -1);
        if (ready > 0) {
            return;
        }
        if (ready < 0 && errno != EINTR) {
            throw errno_error("poll", errno);
        }
        if (patience_.count() > 0 && std::chrono::steady_clock::now() - began > patience_) {
            throw SilentPeer("the signing process does not answer");
        }
    }
}

void Channel::send_bytes(std::string_view bytes) const {
    while (!bytes.empty()) {
        wait(POLLOUT);
        const ssize_t put =
            ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (put >= 0) {
            bytes.remove_prefix(static_cast<std::size_t>(put));
        } else if (errno != EINTR && errno != EAGAIN) {
            throw errno_error("the signing process", errno);
        }
    }
}

void Channel::send(std::uint32_t kind, const std::vector<std::string_view>& fields) {
    const auto count = static_cast<std::uint32_t>(fields.size());
    send_bytes(std::string(bytes_of(kind)).append(bytes_of(count)));
    for (const std::string_view field : fields) {
        send_bytes(bytes_of(std::uint64_t{field.size()}));
        send_bytes(field);
    }
}

bool Channel::receive_bytes(std::string& out, std::uint64_t size) const {
    std::array<char, 1U << 16U> buffer;
    for (std::uint64_t left = size; left > 0;) {
        wait(POLLIN);
        const ssize_t got = ::recv(
            socket_.get(), buffer.data(),
            static_cast<std::size_t>(std::min<std::uint64_t>(left, buffer.size())), MSG_DONTWAIT);
        if (got > 0) {
            out.append(buffer.data(), static_cast<std::size_t>(got));
            left -= static_cast<std::uint64_t>(got);
        } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
            // ECONNRESET as well: the other end closed the socket with unread data.
            if (left == size) {
                return false;
            }
            throw Error("a message to or from the signing process is cut off");
        }
    }
    return true;
}

template <typename Number>
std::optional<Number> Channel::receive_number() const {
    std::string bytes;
    if (!receive_bytes(bytes, sizeof(Number))) {
        return std::nullopt;
    }
    Number number{};
    std::memcpy(&number, bytes.data(), sizeof number);
    return number;
}

std::optional<Message> Channel::receive(std::uint64_t limit) {
    const auto cut_off = [] {
        return Error("a message to or from the signing process is cut off");
    };
    const std::optional<std::uint32_t> kind = receive_number<std::uint32_t>();
    if (!kind) {
        return std::nullopt;
    }
    const std::optional<std::uint32_t> count = receive_number<std::uint32_t>();
    if (!count) {
        throw cut_off();
    }
    if (*count > most_fields) {
        throw error("a message to or from the signing process has {} fields", *count);
    }
    Message message{*kind, {}};
    for (std::uint32_t i = 0; i < *count; ++i) {
        const std::optional<std::uint64_t> size = receive_number<std::uint64_t>();
        if (!size) {
            throw cut_off();
        }
        if (*size > limit) {
            throw error("a message to or from the signing process is too large");
        }
        limit -= *size;
        if (!receive_bytes(message.fields.emplace_back(), *size)) {
            throw cut_off();
        }
    }
    return message;
}

}  // namespace edgegpu
