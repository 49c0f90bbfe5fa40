#pragma once

#include <filesystem>

#include "support/log.hpp"

namespace edgegpu {

/// How many logs of builds a cache keeps.
inline constexpr std::size_t kept_build_logs = 10;

/// A name for the log of the build that begins now, in `logs/` of the cache:
/// "20261122T165535Z-4711.log", or ".jsonl". Makes the directory, and removes the oldest logs
/// there but for the last `kept_build_logs` - 1; never one that its build still writes to (a `Log`
/// holds a shared flock(2) on its files). Throws Error where the directory cannot be made.
[[nodiscard]] std::filesystem::path begin_build_log(const std::filesystem::path& cache,
                                                    LogFormat format);

}  // namespace edgegpu
