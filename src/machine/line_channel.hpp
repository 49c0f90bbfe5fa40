#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "machine/wait.hpp"
#include "support/handles.hpp"

namespace edgegpu {

/// A connected pair of stream sockets: ours, which does not block, and one for a program to
/// inherit. Throws Error.
[[nodiscard]] std::pair<Fd, Fd> make_channel();

/// Lines to and from a program or a guest, which may send anything at any time, and never end a
/// line.
class LineChannel {
public:
    /// `socket` does not block. Lines longer than `longest` bytes are dropped and counted.
    LineChannel(Fd socket, std::size_t longest);

    /// To be polled; -1 once the other side has closed it.
    [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }
    [[nodiscard]] bool closed() const noexcept { return !socket_; }
    /// Reads what has come, at most 64 KiB, without waiting.
    void read();
    /// The next complete line, without its end ("\n" or "\r\n").
    [[nodiscard]] std::optional<std::string> next();
    /// Sends all of `text`. Throws what `wait` throws, or Error if the other side is gone.
    void send(const Wait& wait, std::string_view text);
    /// Lines that were too long, so far.
    [[nodiscard]] std::size_t dropped() const noexcept { return dropped_; }

private:
    void take(std::string_view bytes);

    Fd socket_;
    std::size_t longest_;
    std::string partial_;
    bool dropping_ = false;
    std::size_t dropped_ = 0;
    std::deque<std::string> lines_;
};

}  // namespace edgegpu
