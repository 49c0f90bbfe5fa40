#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace edgegpu {

/// The class of a failure, which decides the exit status.
enum class ErrorKind {
    failure,     ///< exit status 1: anything that fits nothing below
    usage,       ///< exit status 2: wrong arguments or an invalid blueprint
    unsolvable,  ///< exit status 3: no set of packages satisfies the blueprint
    fetch,       ///< exit status 4: a download, digest or signature failed
    interrupted  ///< exit status 130: SIGINT, SIGTERM or SIGHUP
};

/// The one exception of edgegpu: a message, where it happened, and a hint.
///
/// Stages throw it with a message that names file, line or package; stage boundaries
/// add a trace ("while resolving …") with `traced`. Nobody logs and rethrows.
class Error : public std::exception {
public:
    Error(ErrorKind kind, std::string message) : kind_(kind), message_(std::move(message)) {}
    explicit Error(std::string message) : Error(ErrorKind::failure, std::move(message)) {}

    [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }
    [[nodiscard]] const std::string& message() const noexcept { return message_; }
    /// Indented lines printed below the message, innermost first.
    [[nodiscard]] const std::vector<std::string>& traces() const noexcept { return traces_; }
    /// What to do about it, or empty.
    [[nodiscard]] const std::string& hint() const noexcept { return hint_; }
    [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }

    /// Adds a line of context below the message; returns *this to be thrown.
    Error& traced(std::string trace) {
        traces_.push_back(std::move(trace));
        return *this;
    }
    /// The stage of a build in which it happened ("compose"); the innermost, if there are several.
    /// Empty outside of stages.
    [[nodiscard]] const std::string& stage() const noexcept { return stage_; }
    /// Sets the stage, unless an inner one did.
    void staged(std::string stage) {
        if (stage_.empty()) {
            stage_ = std::move(stage);
        }
    }
    /// Sets the hint; returns *this to be thrown.
    Error& hinted(std::string hint) {
        hint_ = std::move(hint);
        return *this;
    }
    /// The exit status that belongs to kind().
    [[nodiscard]] int exit_status() const noexcept;
    /// The text a user sees: "error: …", indented traces, "hint: …"; ends with a newline. Control
    /// characters of what was read from outside are escaped, and what looks like a secret is
    /// hidden; `colored` marks "error" and "hint".
    [[nodiscard]] std::string render(bool colored = false) const;

private:
    ErrorKind kind_;
    std::string message_;
    std::vector<std::string> traces_;
    std::string hint_;
    std::string stage_;
};

/// Builds an Error from a format string: `throw error(ErrorKind::fetch, "{}: …", url)`.
template <typename... Args>
[[nodiscard]] Error error(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
    return Error(kind, fmt::format(format, std::forward<Args>(args)...));
}

/// The same for ErrorKind::failure.
template <typename... Args>
[[nodiscard]] Error error(fmt::format_string<Args...> format, Args&&... args) {
    return Error(fmt::format(format, std::forward<Args>(args)...));
}

/// An Error "WHAT: strerror(code)"; `code` is an errno value.
[[nodiscard]] Error errno_error(std::string_view what, int code);

/// Up to `limit` of `candidates` nearest to `wanted` by edit distance, nearest first; only
/// those near enough to be a typing mistake, with at most `most_edits`. For "did you mean" hints.
[[nodiscard]] std::vector<std::string> nearest_names(std::string_view wanted,
                                                     const std::vector<std::string>& candidates,
                                                     std::size_t limit = 1,
                                                     std::size_t most_edits = 100);

/// "did you mean 'x' or 'y'?", or empty where nothing is near.
[[nodiscard]] std::string near_names_hint(std::string_view wanted,
                                          const std::vector<std::string>& candidates);

/// Does what may fail without making a failure of the command, such as what comes after its result
/// is in place. Returns why it could not be done, whatever was thrown; nothing if it was.
[[nodiscard]] std::optional<std::string> reason_of_failure(const std::function<void()>& work);

}  // namespace edgegpu
