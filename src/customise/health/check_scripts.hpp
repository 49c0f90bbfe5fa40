#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "customise/health/greenboot.hpp"

namespace edgegpu {

/// What may be wrong with a line of a health check.
struct ScriptDoubt {
    std::size_t line = 0;
    std::string text;
};

/// Whether `path` is a script that greenboot runs as a check.
[[nodiscard]] bool is_health_check(std::string_view path);

/// Lines of a health check (a shell script) that show plainly what does harm: nvidia-smi without a
/// time limit, and files in /etc or /var that it writes, which the old and the new version share.
/// Variables and functions are not followed.
[[nodiscard]] std::vector<ScriptDoubt> doubts_of_check(std::string_view script, GreenbootKind kind);

}  // namespace edgegpu
