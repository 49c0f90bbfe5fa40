#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "support/console.hpp"
#include "support/error.hpp"
#include "support/log.hpp"

namespace edgegpu {

/// What is known of the command that runs, as far as the command line was read: how a failure is
/// to be reported.
struct RunningCommand {
    /// "build"; empty before a command is known
    std::string name;
    Color color = Color::automatic;
    /// stdout carries JSON: that of the failure, too
    bool json = false;
    Log log;
};

/// Reports why the command fails: to the log, on stderr, and with --json as a document on stdout
/// (docs/schemas/error.json). Returns the exit status.
int report_failure(const RunningCommand& running, const Error& failure) noexcept;

/// The same without the document, for a command that prints one about its failures.
int report_failure_without_document(const RunningCommand& running, const Error& failure) noexcept;

/// Every mistake of an Error: file, line, column, message, traces, hint.
[[nodiscard]] nlohmann::ordered_json mistakes_document(const Error& failure);

}  // namespace edgegpu
