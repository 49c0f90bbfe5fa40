#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "execution/context.hpp"

namespace edgegpu {

/// Attempts at what may fail for a while: a server that is busy, a connection that ends. The pause
/// between two doubles from one to the next.
class Attempts {
public:
    /// At most `most`; none that begins later than `patience` after the first failure, since each
    /// may wait for a server that does not answer. `ctx` must outlive it.
    Attempts(const Context& ctx, int most, std::chrono::milliseconds pause,
             std::chrono::seconds patience = std::chrono::minutes(10));

    /// Whether there is another attempt: then says so, with what has failed ("cannot list
    /// s3:bucket: REASON"), and waits. Throws ErrorKind::interrupted.
    [[nodiscard]] bool again(std::string_view failure);

    /// How many there have been.
    [[nodiscard]] int made() const noexcept { return made_; }

private:
    const Context& ctx_;
    int most_;
    int made_ = 1;
    std::chrono::milliseconds pause_;
    std::chrono::seconds patience_;
    std::optional<std::chrono::steady_clock::time_point> end_;
};

}  // namespace edgegpu
