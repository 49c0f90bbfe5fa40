#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace edgegpu {

/// What a program printed, for the log: all of it, or, beyond `limit` bytes, the beginning and the
/// end, with a line between them that says how much was left out.
class KeptOutput {
public:
    /// For one program; half of it for each end.
    static constexpr std::uint64_t default_limit = 16U << 20U;

    explicit KeptOutput(std::uint64_t limit = default_limit) : half_(limit / 2) {}

    void append(std::string_view bytes);
    /// How many bytes there were in total.
    [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
    /// Leaves out lines that were cut: half a secret would not be recognised as one.
    [[nodiscard]] std::string text() const;

private:
    std::uint64_t half_;
    std::uint64_t total_ = 0;
    std::string head_;
    /// at most twice as long as needed
    std::string tail_;
};

}  // namespace edgegpu
