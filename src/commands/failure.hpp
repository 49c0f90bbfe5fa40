#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "log/console.hpp"
#include "log/log.hpp"
#include "support/error.hpp"

namespace edgegpu {

/// What is known of the running command, as far as the command line was read, to report a failure
/// of it.
struct RunningCommand {
    /// "build"; empty before a command is known
    std::string name;
    Color color = Color::automatic;
    /// stdout carries JSON, also that of a failure
    bool json = false;
    Log log;
};

/// Reports why the command fails: to the log, on stderr, and with --json as a document on stdout
/// (docs/schemas/error.json). Returns the exit status.
int report_failure(const RunningCommand& running, const Error& failure) noexcept;

/// The same without the document, for a command whose own document has its failures.
int report_failure_without_document(const RunningCommand& running, const Error& failure) noexcept;

/// Every mistake of an Error: file, line, column, message, traces, hint.
[[nodiscard]] nlohmann::ordered_json mistakes_document(const Error& failure);

}  // namespace edgegpu
