#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// What a guest does, according to what it writes to its console. All of that is untrusted.
class ConsoleProgress {
public:
    enum class Phase { firmware, boot_loader, kernel, system };

    /// Takes what came next, in pieces of any size.
    void take(std::string_view bytes);
    /// The guest was reset: the firmware is next.
    void restart();

    [[nodiscard]] Phase phase() const noexcept { return phase_; }
    /// "kernel: Freeing unused memory", "system: Reached target Multi-User System": what it does,
    /// on one line of at most 80 printable characters.
    [[nodiscard]] std::string summary() const;
    /// Why this boot can no longer succeed by itself, "kernel panic: …"; empty as long as it can.
    [[nodiscard]] const std::string& failure() const noexcept { return failure_; }
    /// The last `count` lines that are not empty, printable.
    [[nodiscard]] std::vector<std::string> last(std::size_t count) const;

private:
    void take_line();
    void judge(std::string_view line, bool complete);

    Phase phase_ = Phase::firmware;
    std::string line_;
    enum class Escape { none, begun, sequence, text } escape_ = Escape::none;
    bool carriage_return_ = false;
    std::string shown_;
    std::string failure_;
    std::deque<std::string> lines_;
};

}  // namespace edgegpu
