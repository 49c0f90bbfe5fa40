#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <poll.h>
#include <sys/socket.h>

#include "machine/line_channel.hpp"
#include "support/handles.hpp"

namespace edgegpu {

/// The other side of a channel: answers each line as a script of the test says.
class MachinePeer {
public:
    /// Gets a line without its end and returns what is sent; called with "" first.
    using Script = std::function<std::string(const std::string& line)>;

    explicit MachinePeer(Script script) : script_(std::move(script)) {
        auto [ours, theirs] = make_channel();
        channel_ = std::move(ours);
        peer_ = std::move(theirs);
        thread_ = std::jthread([this](const std::stop_token& stop) { answer(stop); });
    }

    /// For the class under test.
    [[nodiscard]] Fd take() { return std::move(channel_); }
    /// For a script: what it returns is the last thing that is sent.
    void close_after_this() { closing_ = true; }

private:
    void send(std::string_view text) {
        while (!text.empty()) {
            const ssize_t put = ::send(peer_.get(), text.data(), text.size(), MSG_NOSIGNAL);
            if (put <= 0) {
                return;
            }
            text.remove_prefix(static_cast<std::size_t>(put));
        }
    }

    void answer(const std::stop_token& stop) {
        std::string buffer;
        send(script_(""));
        while (!stop.stop_requested() && !closing_) {
            pollfd wanted{peer_.get(), POLLIN, 0};
            char byte = 0;
            if (::poll(&wanted, 1, 20) <= 0) {
                continue;
            }
            if (::recv(peer_.get(), &byte, 1, 0) != 1) {
                return;
            }
            if (byte == '\n') {
                send(script_(std::exchange(buffer, {})));
            } else {
                buffer += byte;
            }
        }
        peer_.reset();
    }

    Script script_;
    Fd channel_;
    Fd peer_;
    std::atomic<bool> closing_ = false;
    std::jthread thread_;
};

/// The message of the Error that `call` throws.
template <typename Call>
std::string message_of(Call&& call) {
    try {
        std::forward<Call>(call)();
    } catch (const Error& failure) {
        return failure.message();
    }
    return "no error";
}

}  // namespace edgegpu
