#pragma once

#include <chrono>
#include <filesystem>
#include <optional>

#include "gpu_health/program/configuration.hpp"
#include "gpu_health/program/files.hpp"

namespace edgegpu::gpu_health {

/// Waits until no other gpu-health of this machine looks at it, so that two do not write one
/// memory, but not longer than `patience`: a verdict is better than none. Nothing, and a note, if
/// it has no lock. It ends with the process; children that are left behind do not have it.
[[nodiscard]] std::optional<Descriptor> lock_run(const std::filesystem::path& file,
                                                 std::chrono::milliseconds patience, Notes& notes);

}  // namespace edgegpu::gpu_health
