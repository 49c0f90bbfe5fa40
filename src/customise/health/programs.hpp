#pragma once

#include <string_view>

namespace edgegpu {

/// The static program gpu-health (src/gpu_health), an ELF file for images:
/// /usr/libexec/edgegpu/gpu-health. It is embedded in edgegpu.
[[nodiscard]] std::string_view gpu_health_program() noexcept;

/// The program that calls NVIDIA's libraries for gpu-health, beside it in images:
/// /usr/libexec/edgegpu/gpu-probe. It is linked with the image's C library, as those libraries are.
[[nodiscard]] std::string_view gpu_probe_program() noexcept;

}  // namespace edgegpu
