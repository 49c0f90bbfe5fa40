#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "support/secrets.hpp"

namespace edgegpu {

/// The severity of a record.
enum class LogLevel {
    error,    ///< the command fails
    warning,  ///< shown as a warning on the terminal
    info,     ///< stages and decisions
    debug     ///< every program, request, package and cache lookup
};

/// How a record is written.
enum class LogFormat {
    text,  ///< `TIME LEVEL [BUILD] STAGE: MESSAGE NAME=VALUE…`, one line each
    json   ///< one object a line (docs/schemas/log.json)
};

/// The value of a field.
class LogValue {
public:
    using Variant = std::variant<std::string, std::int64_t, double, bool, std::vector<std::string>>;

    LogValue(std::string text) : value_(std::move(text)) {}
    LogValue(std::string_view text) : value_(std::string(text)) {}
    LogValue(const char* text) : value_(std::string(text)) {}
    LogValue(const std::filesystem::path& path) : value_(path.string()) {}
    LogValue(std::vector<std::string> texts) : value_(std::move(texts)) {}
    LogValue(std::integral auto number) : value_(static_cast<std::int64_t>(number)) {}
    LogValue(bool flag) : value_(flag) {}
    LogValue(double number) : value_(number) {}

    [[nodiscard]] const Variant& get() const noexcept { return value_; }
    [[nodiscard]] Variant& get() noexcept { return value_; }

private:
    Variant value_;
};

/// One fact of a record: `{"status", 0}`.
struct LogField {
    std::string_view name;
    LogValue value;
};

/// A record of what a build decided and did, for later diagnosis. Copies share their destinations;
/// a default-constructed log has none and costs nothing. All members may be called from any thread,
/// except those that add a destination. Secrets (support/secrets.hpp) are removed from every
/// record. Nothing fails because of the log: a destination that can no longer be written to is
/// reported once.
class Log {
public:
    /// Writes nowhere.
    Log() = default;
    /// `build` is in every record and identifies the build, as several may share a file.
    explicit Log(std::string build);

    /// Adds a file, created if absent. Each record is appended with one write(2), so that several
    /// builds may share it. Only its owner can read it. Throws ErrorKind::usage if it cannot be
    /// written.
    void add_file(const std::filesystem::path& file, LogFormat format);
    /// Shows records up to `level` as text, one line each, without time and build; omits those that
    /// the console shows itself.
    void add_terminal(std::function<void(std::string_view)> show, LogLevel level);
    /// Called once for each file that can no longer be written to; without it, stderr is told.
    void on_failure(std::function<void(std::string_view)> tell);
    /// Undoes `add_terminal` and `on_failure`, before what they call is destroyed.
    void remove_terminal();

    /// Whether any destination takes records of this level.
    [[nodiscard]] bool wants(LogLevel level) const noexcept;
    /// Writes one record.
    void write(LogLevel level, std::string_view message,
               std::vector<LogField> fields = {}) const noexcept;
    void info(std::string_view message, std::vector<LogField> fields = {}) const noexcept {
        write(LogLevel::info, message, std::move(fields));
    }
    void debug(std::string_view message, std::vector<LogField> fields = {}) const noexcept {
        write(LogLevel::debug, message, std::move(fields));
    }
    /// The same for what the console shows itself: written to files only.
    void write_shown(LogLevel level, std::string_view message,
                     std::vector<LogField> fields = {}) const noexcept;

    /// Sets the stage of subsequent records; empty: none.
    void set_stage(std::string_view stage) const;
    [[nodiscard]] std::string stage() const;

    /// The secrets that the log hides. A log without destinations has none.
    [[nodiscard]] Secrets secrets() const;
    /// `text` without secrets.
    [[nodiscard]] std::string without_secrets(std::string_view text) const;

private:
    struct State;
    void write_to(bool terminal, LogLevel level, std::string_view message,
                  std::vector<LogField>& fields) const noexcept;
    std::shared_ptr<State> state_;
};

}  // namespace edgegpu
