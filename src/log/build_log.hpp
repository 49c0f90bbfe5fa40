#pragma once

#include <filesystem>

#include "log/log.hpp"

namespace edgegpu {

/// How many build logs a cache keeps.
inline constexpr std::size_t kept_build_logs = 10;

/// The path for the log of a build that begins now, in `logs/` of the cache:
/// "20261122T165535Z-4711.log", or ".jsonl". Creates the directory, and removes all but the newest
/// `kept_build_logs` - 1 logs in it, except those that a build still writes to (a `Log` holds a
/// shared flock(2) on its files). Throws Error if the directory cannot be created.
[[nodiscard]] std::filesystem::path begin_build_log(const std::filesystem::path& cache,
                                                    LogFormat format);

}  // namespace edgegpu
