#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace edgegpu {

/// What a program printed, for the log: all of it, or of more than `limit` bytes the beginning and
/// the end, with a line between them that says how much was left out.
class KeptOutput {
public:
    /// Of one program; half of it for each end.
    static constexpr std::uint64_t default_limit = 16U << 20U;

    explicit KeptOutput(std::uint64_t limit = default_limit) : half_(limit / 2) {}

    void append(std::string_view bytes);
    /// How much there was in all.
    [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
    [[nodiscard]] bool is_cut() const noexcept { return total_ > head_.size() + tail_.size(); }
    /// Nothing of a line that was cut is in it: half a secret is not recognised as one.
    [[nodiscard]] std::string text() const;

private:
    std::uint64_t half_;
    std::uint64_t total_ = 0;
    std::string head_;
    /// at most twice as long as it has to be
    std::string tail_;
};

}  // namespace edgegpu
