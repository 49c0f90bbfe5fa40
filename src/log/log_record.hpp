#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "log/log.hpp"

namespace edgegpu {

/// A record without time and level, which spdlog writes before it.
struct LogRecord {
    std::string_view build;
    std::string_view stage;
    std::string_view message;
    const std::vector<LogField>& fields;
};

/// `[BUILD] STAGE: MESSAGE NAME=VALUE…`. On one line: values with blanks, quotes or control
/// characters are quoted, with backslashes.
[[nodiscard]] std::string record_text(const LogRecord& record);

/// The same for a terminal: without the build, and with values cut after a few hundred characters.
[[nodiscard]] std::string record_for_terminal(const LogRecord& record);

/// The members of the JSON object that follow "time" and "level", and the closing brace.
[[nodiscard]] std::string record_json(const LogRecord& record);

}  // namespace edgegpu
