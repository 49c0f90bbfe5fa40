#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "log/log.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

/// When to colour.
enum class Color { automatic, always, never };

/// Whether messages on stderr are coloured: `color`, or for automatic a terminal that is not
/// dumb and no NO_COLOR.
[[nodiscard]] bool use_color(Color color);

/// A message that was shown and may be shown again.
struct Remark {
    enum class Kind { note, warning, warning_of };
    Kind kind = Kind::note;
    std::string text;
    /// of warning_of: the item
    std::string item;
    bool operator==(const Remark&) const = default;
};

/// How long a stage took.
struct StageTime {
    std::string name;
    double seconds = 0;
};

/// Where a Console writes, and what it may use there, as values, so that tests need no terminal of
/// their own.
struct ConsoleOutput {
    using Clock = std::chrono::steady_clock;
    /// Takes whole messages; called with the console's lock held.
    std::function<void(std::string_view)> write;
    /// Takes one JSON object with its newline (docs/progress.md); empty: no events.
    std::function<void(std::string_view)> write_event;
    /// Width of the terminal in columns, queried at every redraw; empty: not a terminal, nothing
    /// is redrawn.
    std::function<unsigned()> columns;
    std::function<Clock::time_point()> now = Clock::now;
    bool colored = false;
    /// The terminal shows UTF-8.
    bool unicode = false;
    /// Warnings and errors only.
    bool quiet = false;
    /// Redraw the live line ten times a second, so that its timer advances in a stage that reports
    /// nothing. Off in tests, which call `redraw`.
    bool animated = false;
    /// Also gets warnings and notes.
    Log log;
    /// Shows the log's other records up to this level below the stage, even if `quiet`.
    std::optional<LogLevel> log_level;
};

/// stderr as it is. `progress_fd` -1: no events; else an open descriptor, which programs do not
/// inherit. Throws ErrorKind::usage if it is not open for writing.
[[nodiscard]] ConsoleOutput standard_error(Color color, bool quiet, int progress_fd = -1);

class Recording;

/// Everything that a user sees except the result: stages, progress and warnings.
/// All members may be called from any thread.
class Console {
public:
    explicit Console(ConsoleOutput output);
    /// To stderr, with defaults; for tests and tools.
    explicit Console(Color color = Color::automatic, bool quiet = false)
        : Console(standard_error(color, quiet)) {}
    Console(const Console&) = delete;
    Console& operator=(const Console&) = delete;
    /// Removes the live line.
    ~Console();

    /// Begins a stage ("resolve"), ending the one before it.
    void begin_stage(std::string_view name);
    /// Ends the current stage; `result` is shown after it ("241 packages, 1.1 GiB"), and below it
    /// the warnings that were issued during it.
    void end_stage(std::string_view result);
    /// Progress inside the stage, `done` of `total` units ("packages, 80 MiB", "systemd %post").
    /// Cheap: may be called for every unit. Redrawn in place on a terminal; one line every ten
    /// seconds elsewhere.
    void progress(std::size_t done, std::size_t total, std::string_view what);
    /// The same, shown as `shown` ("check 4 of 23: services") instead of "3/23 services".
    void progress_in_words(std::size_t done, std::size_t total, std::string_view what,
                           std::string_view shown);
    /// A line of information below the stage.
    void note(std::string_view text);
    /// A record of the log, as a line below the stage.
    void show(std::string_view record);
    /// The same for what is true only at this moment: a Recording does not keep it.
    void note_now(std::string_view text);
    /// A warning, shown at the end of its stage; the same text is shown and kept once.
    void warn(std::string_view text);
    /// A warning about one of many items: those of a stage are shown as one, "WHAT: A, B, C".
    void warn_of(std::string_view what, std::string_view item);
    /// Shows a remark again, as one of these three.
    void say(const Remark& remark);
    /// Redraws the live line with the current time; does nothing without a terminal.
    void redraw();

    /// All warnings so far, in order, each group as one text with all its items.
    [[nodiscard]] std::vector<std::string> warnings() const;
    /// The stages that ended, in order.
    [[nodiscard]] std::vector<StageTime> stage_times() const;
    /// Since the Console was made, also between stages and in those too short to be shown.
    [[nodiscard]] double seconds() const;
    /// Whether escape sequences may be written.
    [[nodiscard]] bool colored() const noexcept { return out_.colored; }

private:
    friend class Recording;

    struct Warning {
        std::string what;
        std::vector<std::string> items;
        bool shown = false;
    };

    // All of these are called with mutex_ held.
    void clear_line();
    void draw_line();
    void show_warnings();
    void event(std::string_view name, std::string_view key, std::string_view text);
    void record(Remark::Kind kind, std::string_view text, std::string_view item = {});
    [[nodiscard]] double elapsed() const;

    mutable std::mutex mutex_;
    ConsoleOutput out_;
    ConsoleOutput::Clock::time_point made_;
    bool line_open_ = false;
    std::string stage_;
    ConsoleOutput::Clock::time_point stage_began_;
    ConsoleOutput::Clock::time_point last_drawn_;
    ConsoleOutput::Clock::time_point last_event_;
    std::size_t done_ = 0;
    std::size_t total_ = 0;
    std::string shown_progress_;
    std::vector<StageTime> times_;
    std::vector<Warning> warnings_;
    std::vector<Recording*> recordings_;
    std::condition_variable_any wake_;
    /// The last member, so that it ends before what it uses.
    std::jthread ticker_;
};

/// Records the notes and warnings of this thread during its lifetime.
class Recording {
public:
    /// `console` may be null: then there is nothing to record.
    explicit Recording(Console* console);
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;
    ~Recording();

    /// In the order in which they were shown.
    [[nodiscard]] const std::vector<Remark>& remarks() const noexcept { return remarks_; }

private:
    friend class Console;

    Console* console_;
    std::thread::id thread_ = std::this_thread::get_id();
    std::vector<Remark> remarks_;
};

}  // namespace edgegpu
