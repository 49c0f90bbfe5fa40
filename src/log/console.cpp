#include "log/console.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/ranges.hpp"

namespace edgegpu {

namespace {

constexpr std::size_t bar_width = 20;
constexpr std::size_t shown_items = 4;
constexpr auto redraw_interval = std::chrono::milliseconds(100);
constexpr auto log_interval = std::chrono::seconds(10);

std::string_view environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string_view{} : std::string_view{value};
}

bool is_terminal() {
    return ::isatty(STDERR_FILENO) == 1 && environment("TERM") != "dumb";
}

/// As setlocale(3) would choose; the program itself stays in the C locale.
bool shows_utf8() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const std::string_view value = environment(name);
        if (!value.empty()) {
            return value.find("UTF-8") != std::string_view::npos ||
                   value.find("utf8") != std::string_view::npos;
        }
    }
    return false;
}

unsigned terminal_columns() {
    winsize size{};
    const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : 80;
}

/// Writes everything, or stops silently: the reader may have gone, which is no reason to fail.
void write_whole(int descriptor, std::string_view text) {
    static_cast<void>(write_all(descriptor, text));
}

std::string bar(std::size_t done, std::size_t total, bool unicode) {
    const std::size_t filled = total == 0 ? 0 : bar_width * std::min(done, total) / total;
    std::string text;
    for (std::size_t i = 0; i < bar_width; ++i) {
        text += i < filled ? (unicode ? "█" : "#") : (unicode ? "░" : ".");
    }
    return text;
}

std::string joined(const std::string& what, const std::vector<std::string>& items,
                   std::size_t limit) {
    if (items.empty()) {
        return what;
    }
    const std::size_t shown = std::min(limit, items.size());
    std::string text = fmt::format(
        "{}: {}", what, fmt::join(items.begin(), items.begin() + std::ptrdiff_t(shown), ", "));
    if (shown < items.size()) {
        text += fmt::format(" and {} more", items.size() - shown);
    }
    return text;
}

}  // namespace

bool use_color(Color color) {
    return color == Color::always ||
           (color == Color::automatic && is_terminal() && environment("NO_COLOR").empty());
}

ConsoleOutput standard_error(Color color, bool quiet, int progress_fd) {
    ConsoleOutput output;
    output.write = [](std::string_view text) { write_whole(STDERR_FILENO, text); };
    output.colored = use_color(color);
    output.unicode = shows_utf8();
    output.quiet = quiet;
    if (is_terminal()) {
        output.columns = terminal_columns;
        output.animated = !quiet;
    }
    if (progress_fd >= 0) {
        const int flags = ::fcntl(progress_fd, F_GETFL);
        if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) {
            throw error(ErrorKind::usage, "--progress-fd: descriptor {} is not open for writing",
                        progress_fd)
                .hinted("as in: edgegpu build BLUEPRINT --progress-fd 3 3>progress.jsonl");
        }
        if (progress_fd > STDERR_FILENO) {
            ::fcntl(progress_fd, F_SETFD, FD_CLOEXEC);
        }
        output.write_event = [progress_fd](std::string_view line) {
            write_whole(progress_fd, line);
        };
    }
    return output;
}

Console::Console(ConsoleOutput output) : out_(std::move(output)), made_(out_.now()) {
    out_.log.on_failure([this](std::string_view trouble) { warn(trouble); });
    if (out_.log_level) {
        out_.log.add_terminal([this](std::string_view record) { show(record); }, *out_.log_level);
    }
    if (out_.write_event) {
        out_.write_event("{\"event\":\"begin\",\"format\":\"edgegpu-progress/1\"}\n");
    }
    if (out_.animated) {
        ticker_ = std::jthread([this](const std::stop_token& stop) {
            std::unique_lock lock(mutex_);
            while (!stop.stop_requested()) {
                wake_.wait_for(lock, stop, redraw_interval, [] { return false; });
                if (!stop.stop_requested()) {
                    draw_line();
                }
            }
        });
    }
}

Console::~Console() {
    ticker_ = {};
    out_.log.remove_terminal();
    const std::lock_guard lock(mutex_);
    clear_line();
    show_warnings();
}

double Console::elapsed() const {
    return std::chrono::duration<double>(out_.now() - stage_began_).count();
}

void Console::clear_line() {
    if (line_open_) {
        out_.write("\r\033[K");
        line_open_ = false;
    }
}

void Console::event(std::string_view name, std::string_view key, std::string_view text) {
    if (!out_.write_event) {
        return;
    }
    nlohmann::ordered_json line = {{"event", name}, {"stage", stage_}};
    if (name == "progress") {
        line["done"] = done_;
        line["total"] = total_;
    } else if (name == "stage-end") {
        line["seconds"] = times_.back().seconds;
    }
    if (!key.empty()) {
        line[std::string(key)] = text;
    }
    using nlohmann::ordered_json;
    out_.write_event(line.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + '\n');
}

void Console::draw_line() {
    if (!out_.columns || out_.quiet || stage_.empty()) {
        return;
    }
    last_drawn_ = out_.now();
    std::string state;
    if (total_ > 0) {
        state = fmt::format("{} {}", bar(done_, total_, out_.unicode), shown_progress_);
    } else {
        state = out_.unicode ? "…" : "...";
    }
    // The last column stays free: some terminals wrap as soon as it is written.
    const std::size_t columns = std::max(out_.columns(), 2U) - 1;
    const std::string line = clip(fmt::format("  {:<12} {:>6.1f} s  {}", stage_, elapsed(), state),
                                  columns, out_.unicode);
    out_.write(fmt::format("\r{}\033[K", line));
    line_open_ = true;
}

void Console::show_warnings() {
    for (Warning& warning : warnings_) {
        if (!std::exchange(warning.shown, true)) {
            const char* mark = out_.colored ? "\033[33mwarning\033[0m" : "warning";
            out_.write(
                fmt::format("{}: {}\n", mark, joined(warning.what, warning.items, shown_items)));
        }
    }
}

void Console::begin_stage(std::string_view name) {
    const std::lock_guard lock(mutex_);
    clear_line();
    show_warnings();
    stage_ = name;
    stage_began_ = out_.now();
    last_drawn_ = stage_began_;
    last_event_ = {};
    done_ = total_ = 0;
    shown_progress_.clear();
    event("stage-begin", "", "");
    draw_line();
}

void Console::end_stage(std::string_view result) {
    const std::lock_guard lock(mutex_);
    clear_line();
    times_.push_back({stage_, elapsed()});
    if (!out_.quiet) {
        const std::string mark = out_.unicode ? "✓" : "-";
        out_.write(fmt::format("{} {:<12} {:>6.2f} s  {}\n",
                               out_.colored ? "\033[32m" + mark + "\033[0m" : mark, stage_,
                               times_.back().seconds, printable_line(result)));
    }
    event("stage-end", "result", result);
    show_warnings();
    stage_.clear();
}

void Console::progress(std::size_t done, std::size_t total, std::string_view what) {
    progress_in_words(done, total, what, fmt::format("{}/{} {}", done, total, what));
}

void Console::progress_in_words(std::size_t done, std::size_t total, std::string_view what,
                                std::string_view shown) {
    const std::lock_guard lock(mutex_);
    const auto now = out_.now();
    done_ = done;
    total_ = total;
    if (out_.write_event && (now - last_event_ >= redraw_interval || done == total)) {
        last_event_ = now;
        event("progress", "what", what);
    }
    shown_progress_ = printable_line(shown);
    if (out_.quiet) {
        return;
    }
    if (out_.columns) {
        if (now - last_drawn_ >= redraw_interval) {
            draw_line();
        }
    } else if (now - last_drawn_ >= log_interval) {
        last_drawn_ = now;
        out_.write(fmt::format("  {}: {}\n", stage_, shown_progress_));
    }
}

void Console::record(Remark::Kind kind, std::string_view text, std::string_view item) {
    for (Recording* recording : recordings_) {
        if (recording->thread_ == std::this_thread::get_id()) {
            recording->remarks_.push_back({kind, std::string(text), std::string(item)});
        }
    }
}

void Console::say(const Remark& remark) {
    switch (remark.kind) {
        case Remark::Kind::note:
            return note(remark.text);
        case Remark::Kind::warning:
            return warn(remark.text);
        case Remark::Kind::warning_of:
            return warn_of(remark.text, remark.item);
    }
}

void Console::note(std::string_view given) {
    {
        const std::lock_guard lock(mutex_);
        record(Remark::Kind::note, out_.log.without_secrets(given));
    }
    note_now(given);
}

void Console::note_now(std::string_view given) {
    const std::string text = out_.log.without_secrets(given);
    {
        const std::lock_guard lock(mutex_);
        event("note", "text", text);
        if (!out_.quiet) {
            clear_line();
            out_.write(fmt::format("  {}\n", printable_line(text)));
            draw_line();
        }
    }
    // Not with the lock held: the log may have to warn.
    out_.log.write_shown(LogLevel::info, text);
}

void Console::show(std::string_view record) {
    const std::lock_guard lock(mutex_);
    clear_line();
    out_.write(fmt::format("  {}\n", printable_line(record)));
    draw_line();
}

void Console::warn(std::string_view text) {
    const std::string secretless = out_.log.without_secrets(text);
    const std::string clean = printable_line(secretless);
    {
        const std::lock_guard lock(mutex_);
        record(Remark::Kind::warning, secretless);
        if (std::ranges::any_of(warnings_,
                                [&](const Warning& known) { return known.what == clean; })) {
            return;
        }
        event("warning", "text", secretless);
        warnings_.push_back({clean, {}});
        if (stage_.empty()) {
            show_warnings();
        }
    }
    out_.log.write_shown(LogLevel::warning, clean);
}

void Console::warn_of(std::string_view what, std::string_view given) {
    const std::string secretless = out_.log.without_secrets(what);
    const std::string clean = printable_line(secretless);
    const std::string item = out_.log.without_secrets(given);
    {
        const std::lock_guard lock(mutex_);
        record(Remark::Kind::warning_of, secretless, item);
        event("warning", "text", fmt::format("{}: {}", secretless, item));
        auto group = std::ranges::find_if(
            warnings_, [&](const Warning& known) { return known.what == clean && !known.shown; });
        if (group == warnings_.end()) {
            group = warnings_.insert(group, {clean, {}});
        }
        group->items.push_back(printable_line(item));
        if (stage_.empty()) {
            show_warnings();
        }
    }
    out_.log.write_shown(LogLevel::warning, clean, {{"of", item}});
}

void Console::redraw() {
    const std::lock_guard lock(mutex_);
    draw_line();
}

std::vector<std::string> Console::warnings() const {
    const std::lock_guard lock(mutex_);
    return mapped(warnings_, [](const Warning& warning) {
        return joined(warning.what, warning.items, warning.items.size());
    });
}

std::vector<StageTime> Console::stage_times() const {
    const std::lock_guard lock(mutex_);
    return times_;
}

double Console::seconds() const {
    return std::chrono::duration<double>(out_.now() - made_).count();
}

Recording::Recording(Console* console) : console_(console) {
    if (console_ != nullptr) {
        const std::lock_guard lock(console_->mutex_);
        console_->recordings_.push_back(this);
    }
}

Recording::~Recording() {
    if (console_ != nullptr) {
        const std::lock_guard lock(console_->mutex_);
        std::erase(console_->recordings_, this);
    }
}

}  // namespace edgegpu
