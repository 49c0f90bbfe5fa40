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

/// How much a record matters.
enum class LogLevel {
    error,    ///< the command fails
    warning,  ///< what the terminal shows as a warning
    info,     ///< stages and decisions
    debug     ///< every program, request, package and look into the cache
};

/// "error", "warning", "info", "debug".
[[nodiscard]] std::string_view log_level_name(LogLevel level) noexcept;

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

/// What a build decided and did, for whoever has to find out later. Copies write to the same
/// places; one that was made with no argument writes nowhere and costs nothing. All members may be
/// called from any thread, except those that add a place. Secrets (support/secrets.hpp) enter no
/// record. Nothing fails because of the log: a place that cannot be written to any more is told
/// once.
class Log {
public:
    /// Writes nowhere.
    Log() = default;
    /// `build` is in every record: which of several builds it belongs to.
    explicit Log(std::string build);

    /// Adds a file, made if it is absent, which is appended to with one write(2) a record: several
    /// builds may share it. It is readable by its owner only. Throws ErrorKind::usage where it
    /// cannot be written.
    void add_file(const std::filesystem::path& file, LogFormat format);
    /// Shows records up to `level` as text, one line each, without time and build; those of which
    /// the console shows the same are left out.
    void add_terminal(std::function<void(std::string_view)> show, LogLevel level);
    /// Who is told, once for each file, that it cannot be written to any more; nobody: stderr is.
    void on_failure(std::function<void(std::string_view)> tell);
    /// Undoes `add_terminal` and `on_failure`, when what they call is about to go.
    void remove_terminal();

    /// Whether anybody gets records of this level.
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
    /// The same for what the console shows itself: it goes to files only.
    void write_shown(LogLevel level, std::string_view message,
                     std::vector<LogField> fields = {}) const noexcept;

    /// Which build the records from now on belong to.
    void set_build(std::string_view build) const;
    /// The stage that the records from now on belong to; empty: none.
    void set_stage(std::string_view stage) const;
    [[nodiscard]] std::string stage() const;

    /// What the log must not show. A log that writes nowhere knows none.
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
