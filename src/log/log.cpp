#include "log/log.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/log_record.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/handles.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

spdlog::level::level_enum spdlog_level(LogLevel level) {
    switch (level) {
        case LogLevel::error:
            return spdlog::level::err;
        case LogLevel::warning:
            return spdlog::level::warn;
        case LogLevel::info:
            return spdlog::level::info;
        case LogLevel::debug:
            break;
    }
    return spdlog::level::debug;
}

std::unique_ptr<spdlog::formatter> formatter_of(const char* pattern) {
    return std::make_unique<spdlog::pattern_formatter>(pattern, spdlog::pattern_time_type::utc,
                                                       "\n");
}

/// A file that others may append to at the same time: each record is one write(2) to a descriptor
/// with O_APPEND, which the kernel does not interleave with another one.
class AppendedFile final : public spdlog::sinks::base_sink<std::mutex> {
public:
    explicit AppendedFile(Fd file) : file_(std::move(file)) {
        struct stat status {};
        is_file_ = ::fstat(file_.get(), &status) == 0 && S_ISREG(status.st_mode);
        if (is_file_) {
            static_cast<void>(lock_file(file_.get(), LOCK_SH | LOCK_NB));  // says that it is in use
        }
    }

protected:
    void sink_it_(const spdlog::details::log_msg& message) override {
        spdlog::memory_buf_t line;
        if (torn_) {
            line.push_back('\n');
        }
        formatter_->format(message, line);
        const char* at = line.data();
        std::size_t left = line.size();
        while (left > 0) {
            const ssize_t put = ::write(file_.get(), at, left);
            if (put < 0 && errno == EINTR) {
                continue;
            }
            if (put < 0) {
                torn_ = torn_ || left < line.size();
                throw spdlog::spdlog_ex(strerrordesc_np(errno));
            }
            at += put;
            left -= static_cast<std::size_t>(put);
            if (left > 0 && is_file_) {  // the disk is full; another's record may follow
                torn_ = true;
                throw spdlog::spdlog_ex(strerrordesc_np(ENOSPC));
            }
        }
        torn_ = false;
    }
    void flush_() override {}

private:
    Fd file_;
    bool is_file_ = false;
    /// The last record was truncated: the next one begins on a new line.
    bool torn_ = false;
};

/// Shows records on a console.
class TerminalLines final : public spdlog::sinks::base_sink<std::mutex> {
public:
    explicit TerminalLines(std::function<void(std::string_view)> show) : show_(std::move(show)) {}

protected:
    void sink_it_(const spdlog::details::log_msg& message) override {
        spdlog::memory_buf_t line;
        formatter_->format(message, line);
        std::string_view text(line.data(), line.size());
        text.remove_suffix(1);
        show_(text);
    }
    void flush_() override {}

private:
    std::function<void(std::string_view)> show_;
};

Fd open_log_file(const std::filesystem::path& file) {
    // Not blocking: a pipe that nobody reads is said to be one.
    Fd opened(::open(file.c_str(),
                     O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600));
    if (!opened || ::fcntl(opened.get(), F_SETFL, O_APPEND) != 0) {
        const int code = errno;
        throw error(ErrorKind::usage, "cannot write the log {}: {}", file.string(),
                    code == ENXIO ? "the pipe has no reader" : strerrordesc_np(code))
            .hinted("name a file in an existing, writable directory with --log");
    }
    return opened;
}

enum class Rendering { text, json, terminal };

std::string rendered(Rendering rendering, const LogRecord& record) {
    switch (rendering) {
        case Rendering::json:
            return record_json(record);
        case Rendering::terminal:
            return record_for_terminal(record);
        case Rendering::text:
            break;
    }
    return record_text(record);
}

/// A destination of records.
struct Place {
    Rendering rendering = Rendering::text;
    std::shared_ptr<spdlog::logger> logger;
};

}  // namespace

struct Log::State {
    std::vector<Place> places;
    Secrets secrets;
    std::function<void(std::string_view)> tell;
    mutable std::mutex mutex;
    std::string build;
    std::string stage;

    void report(const std::string& trouble) const {
        if (tell) {
            tell(trouble);
        } else {
            std::fputs(fmt::format("warning: {}\n", printable_line(trouble)).c_str(), stderr);
        }
    }

    void add(Rendering rendering, const std::string& name,
             std::shared_ptr<spdlog::sinks::sink> sink, LogLevel level, const char* pattern) {
        auto logger = std::make_shared<spdlog::logger>(name, std::move(sink));
        logger->set_formatter(formatter_of(pattern));
        logger->set_level(spdlog_level(level));
        logger->set_error_handler([this, name, told = std::make_shared<std::atomic<bool>>(false)](
                                      const std::string& why) {
            if (!told->exchange(true)) {
                report(fmt::format("cannot write to the log {} any more: {}", name, why));
            }
        });
        places.push_back({rendering, std::move(logger)});
    }
};

Log::Log(std::string build) : state_(std::make_shared<State>()) {
    state_->build = std::move(build);
}

void Log::add_file(const std::filesystem::path& file, LogFormat format) {
    if (!state_) {
        state_ = std::make_shared<State>();
    }
    const bool json = format == LogFormat::json;
    state_->add(json ? Rendering::json : Rendering::text, file.string(),
                std::make_shared<AppendedFile>(open_log_file(file)), LogLevel::debug,
                json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v)"
                     : "%Y-%m-%dT%H:%M:%S.%eZ %-7l %v");
}

void Log::add_terminal(std::function<void(std::string_view)> show, LogLevel level) {
    if (!state_) {
        return;
    }
    state_->add(Rendering::terminal, "terminal", std::make_shared<TerminalLines>(std::move(show)),
                level, "%l: %v");
}

void Log::on_failure(std::function<void(std::string_view)> tell) {
    if (state_) {
        state_->tell = std::move(tell);
    }
}

void Log::remove_terminal() {
    if (state_) {
        std::erase_if(state_->places,
                      [](const Place& place) { return place.rendering == Rendering::terminal; });
        state_->tell = nullptr;
    }
}

bool Log::wants(LogLevel level) const noexcept {
    return state_ && std::ranges::any_of(state_->places, [level](const Place& place) {
               return place.logger->should_log(spdlog_level(level));
           });
}

void Log::write(LogLevel level, std::string_view message,
                std::vector<LogField> fields) const noexcept {
    write_to(true, level, message, fields);
}

void Log::write_shown(LogLevel level, std::string_view message,
                      std::vector<LogField> fields) const noexcept {
    write_to(false, level, message, fields);
}

void Log::write_to(bool terminal, LogLevel level, std::string_view message,
                   std::vector<LogField>& fields) const noexcept {
    if (!wants(level)) {
        return;
    }
    try {
        const std::string shown = without_secrets(message);
        for (LogField& field : fields) {
            if (auto* text = std::get_if<std::string>(&field.value.get())) {
                *text = without_secrets(*text);
            } else if (auto* texts = std::get_if<std::vector<std::string>>(&field.value.get())) {
                std::ranges::transform(*texts, texts->begin(), [this](const std::string& one) {
                    return without_secrets(one);
                });
            }
        }
        std::unique_lock lock(state_->mutex);
        const std::string build = state_->build;
        const std::string stage = state_->stage;
        lock.unlock();
        const LogRecord record{build, stage, shown, fields};
        for (const Place& place : state_->places) {
            if ((terminal || place.rendering != Rendering::terminal) &&
                place.logger->should_log(spdlog_level(level))) {
                const std::string body = rendered(place.rendering, record);
                place.logger->log(spdlog_level(level),
                                  spdlog::string_view_t(body.data(), body.size()));
            }
        }
    } catch (...) {
        // No memory for a record, say: what is being logged has the same trouble, and tells it.
        return;
    }
}

void Log::set_stage(std::string_view stage) const {
    if (state_) {
        const std::lock_guard lock(state_->mutex);
        state_->stage = stage;
    }
}

std::string Log::stage() const {
    if (!state_) {
        return {};
    }
    const std::lock_guard lock(state_->mutex);
    return state_->stage;
}

Secrets Log::secrets() const {
    return state_ ? state_->secrets : Secrets();
}

std::string Log::without_secrets(std::string_view text) const {
    return state_ ? state_->secrets.hide(text) : hide_secrets(text);
}

}  // namespace edgegpu
