#pragma once

#include <filesystem>

namespace edgegpu::test {

/// Whether somebody waits for an flock(2) on the file, as /proc/locks has it.
[[nodiscard]] bool is_waited_for(const std::filesystem::path& path);

}  // namespace edgegpu::test
