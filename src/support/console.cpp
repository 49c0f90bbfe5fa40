#include "support/console.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <unistd.h>

namespace edgegpu {

using std::chrono::steady_clock;

Console::Console(Color color, bool quiet) : quiet_(quiet), terminal_(isatty(2) == 1) {
    const char* no_color = std::getenv("NO_COLOR");
    const bool wanted = terminal_ && (no_color == nullptr || *no_color == '\0');
    colored_ = color == Color::always || (color == Color::automatic && wanted);
}

void Console::clear_line() {
    if (line_open_) {
        std::fputs("\r\033[K", stderr);
        line_open_ = false;
    }
}

void Console::begin_stage(std::string_view name) {
    const std::lock_guard lock(mutex_);
    clear_line();
    stage_ = name;
    stage_began_ = steady_clock::now();
    last_drawn_ = {};
}

void Console::end_stage(std::string_view result) {
    const std::lock_guard lock(mutex_);
    clear_line();
    const std::chrono::duration<double> took = steady_clock::now() - stage_began_;
    times_.push_back({stage_, took.count()});
    if (!quiet_) {
        const char* mark = colored_ ? "\033[32m✓\033[0m" : "-";
        fmt::print(stderr, "{} {:<12} {:>6.2f} s  {}\n", mark, stage_, took.count(), result);
    }
    stage_.clear();
}

void Console::progress(std::size_t done, std::size_t total, std::string_view what) {
    const std::lock_guard lock(mutex_);
    const auto now = steady_clock::now();
    // On a terminal ten redraws a second; in a log one line every ten seconds is enough.
    const auto interval = terminal_ ? std::chrono::milliseconds(100) : std::chrono::seconds(10);
    if (last_drawn_ == steady_clock::time_point{} && !terminal_) {
        last_drawn_ = now;
    }
    if (quiet_ || now - last_drawn_ < interval) {
        return;
    }
    last_drawn_ = now;
    if (!terminal_) {
        fmt::print(stderr, "  {}: {} of {} {}\n", stage_, done, total, what);
        return;
    }
    constexpr std::size_t width = 24;
    const std::size_t filled = total == 0 ? 0 : width * std::min(done, total) / total;
    std::string bar;
    for (std::size_t i = 0; i < width; ++i) {
        bar += i < filled ? "█" : "░";
    }
    clear_line();
    fmt::print(stderr, "  {:<12} {} {}/{} {:.40}", stage_, bar, done, total, what);
    std::fflush(stderr);
    line_open_ = true;
}

void Console::note(std::string_view text) {
    const std::lock_guard lock(mutex_);
    if (!quiet_) {
        clear_line();
        fmt::print(stderr, "  {}\n", text);
    }
}

void Console::warn(std::string_view text) {
    const std::lock_guard lock(mutex_);
    clear_line();
    fmt::print(stderr, "{}: {}\n", colored_ ? "\033[33mwarning\033[0m" : "warning", text);
    warnings_.emplace_back(text);
}

std::vector<std::string> Console::warnings() const {
    const std::lock_guard lock(mutex_);
    return warnings_;
}

std::vector<StageTime> Console::stage_times() const {
    const std::lock_guard lock(mutex_);
    return times_;
}

std::string human_size(std::size_t bytes) {
    static constexpr std::array units = {"B", "kB", "MB", "GB", "TB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 999.5 && unit + 1 < units.size()) {
        value /= 1000;
        ++unit;
    }
    if (unit > 0 && value < 9.95) {
        return fmt::format("{:.1f} {}", value, units[unit]);
    }
    return fmt::format("{:.0f} {}", value, units[unit]);
}

}  // namespace edgegpu
