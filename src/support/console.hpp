#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// When to colour.
enum class Color { automatic, always, never };

/// How long a stage took.
struct StageTime {
    std::string name;
    double seconds = 0;
};

/// Everything a user sees besides the result: stages, progress and warnings, on stderr.
/// All members may be called from any thread.
class Console {
public:
    /// `quiet` prints warnings only; `color` automatic follows isatty(2) and NO_COLOR.
    explicit Console(Color color = Color::automatic, bool quiet = false);

    /// Begins a stage ("Resolving packages"), ending the one before it.
    void begin_stage(std::string_view name);
    /// Ends the current stage; `result` is shown behind it ("241 packages, 1.1 GB").
    void end_stage(std::string_view result);
    /// Progress inside the stage, `done` of `total` units; throttled, redrawn in place on a
    /// terminal.
    void progress(std::size_t done, std::size_t total, std::string_view what);
    /// A line of information below the stage.
    void note(std::string_view text);
    /// A warning; kept too, for --json and the summary.
    void warn(std::string_view text);

    /// All warnings so far, in order.
    [[nodiscard]] std::vector<std::string> warnings() const;
    /// The stages that ended, in order.
    [[nodiscard]] std::vector<StageTime> stage_times() const;
    /// Whether escape sequences may be written to stderr.
    [[nodiscard]] bool colored() const noexcept { return colored_; }

private:
    void clear_line();

    mutable std::mutex mutex_;
    bool quiet_;
    bool terminal_;
    bool colored_;
    bool line_open_ = false;
    std::string stage_;
    std::chrono::steady_clock::time_point stage_began_;
    std::chrono::steady_clock::time_point last_drawn_;
    std::vector<StageTime> times_;
    std::vector<std::string> warnings_;
};

/// "1.1 GB", "734 MB", "12 kB", "17 B": decimal units, one digit below ten.
[[nodiscard]] std::string human_size(std::size_t bytes);

}  // namespace edgegpu
