#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/handles.hpp"

namespace edgegpu {

/// A message between a build and its signing process.
struct Message {
    std::uint32_t kind = 0;
    std::vector<std::string> fields;
};

/// One end of a stream socket that carries messages: kind and number of fields, 32 bits each, then
/// for each field its length, 64 bits, and its bytes; numbers in the machine's own order.
class Channel {
public:
    /// Waiting ends with ErrorKind::interrupted once `cancelled` (may be null) is set.
    explicit Channel(Fd socket, const std::atomic<bool>* cancelled = nullptr)
        : socket_(std::move(socket)), cancelled_(cancelled) {}

    /// Sends a whole message. Throws Error where the other end is gone.
    void send(std::uint32_t kind, const std::vector<std::string_view>& fields);
    /// The next message; nothing where the other end is gone instead. `limit` bytes and 256 fields
    /// at most. Throws Error for more, and for a message that ends before its end; memory is taken
    /// for what came, not for what was announced.
    [[nodiscard]] std::optional<Message> receive(std::uint64_t limit);
    /// Tells the other end that nothing more comes.
    void close() noexcept { socket_.reset(); }

private:
    void wait(short event) const;
    void send_bytes(std::string_view bytes) const;
    // Appends `size` bytes to `out`; false where the stream ends before the first of them.
    [[nodiscard]] bool receive_bytes(std::string& out, std::uint64_t size) const;
    template <typename Number>
    [[nodiscard]] std::optional<Number> receive_number() const;

    Fd socket_;
    const std::atomic<bool>* cancelled_;
};

}  // namespace edgegpu
