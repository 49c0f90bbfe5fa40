#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "gpu_health/judge/verdict.hpp"
#include "gpu_health/program/configuration.hpp"

namespace edgegpu::gpu_health {

/// The JSON text of a memory, with a newline at the end: of the newest 32 commits, so that it
/// cannot grow for ever.
[[nodiscard]] std::string memory_json(const Memory& memory);

/// Reads such a text. Throws std::runtime_error if it is none.
[[nodiscard]] Memory read_memory(std::string_view json);

/// The memory in DIRECTORY/commits.json; one that is damaged is noted, and is empty.
[[nodiscard]] Memory load_memory(const std::filesystem::path& directory, Notes& notes);

/// Writes it; false, and a note, if that cannot be done (a full disk, /var is read-only).
bool store_memory(const std::filesystem::path& directory, const Memory& memory, Notes& notes);

}  // namespace edgegpu::gpu_health
