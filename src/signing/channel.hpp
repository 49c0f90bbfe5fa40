#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.hpp"
#include "support/handles.hpp"

namespace edgegpu {

/// A message between a build and its signing process.
struct Message {
    std::uint32_t kind = 0;
    std::vector<std::string> fields;
};

/// Thrown when the other end of a channel is silent for too long.
class SilentPeer : public Error {
public:
    using Error::Error;
};

/// One end of a stream socket for messages: kind and number of fields (32 bits each), then for each
/// field its length (64 bits) and its bytes, with numbers in native byte order.
class Channel {
public:
    /// Waiting ends with ErrorKind::interrupted once `cancelled` (may be null) is set, and with
    /// SilentPeer when nothing has come, or could be sent, for `patience` (zero: for ever).
    explicit Channel(Fd socket, const std::atomic<bool>* cancelled = nullptr,
                     std::chrono::milliseconds patience = {})
        : socket_(std::move(socket)), cancelled_(cancelled), patience_(patience) {}

    /// Sends a whole message. Throws Error if the other end is closed.
    void send(std::uint32_t kind, const std::vector<std::string_view>& fields);
    /// The next message, or nothing if the other end is closed. Throws Error for a message of more
    /// than `limit` bytes or 256 fields, and for a truncated one; memory is allocated for received
    /// bytes, not for announced ones.
    [[nodiscard]] std::optional<Message> receive(std::uint64_t limit);
    /// Closes this end.
    void close() noexcept { socket_.reset(); }

private:
    void wait(short event) const;
    void send_bytes(std::string_view bytes) const;
    // Appends `size` bytes to `out`; false if the stream ends before the first of them.
    [[nodiscard]] bool receive_bytes(std::string& out, std::uint64_t size) const;
    template <typename Number>
    [[nodiscard]] std::optional<Number> receive_number() const;

    Fd socket_;
    const std::atomic<bool>* cancelled_;
    std::chrono::milliseconds patience_;
};

}  // namespace edgegpu
