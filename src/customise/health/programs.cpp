#include "customise/health/programs.hpp"

#include <cstddef>

// EDGEGPU_GPU_HEALTH and EDGEGPU_GPU_PROBE are paths of executables, set by CMake.
asm(R"(
    .section .rodata
    .global edgegpu_gpu_health_begin
    .global edgegpu_gpu_health_end
    .global edgegpu_gpu_probe_begin
    .global edgegpu_gpu_probe_end
edgegpu_gpu_health_begin:
    .incbin ")" EDGEGPU_GPU_HEALTH R"("
edgegpu_gpu_health_end:
    .byte 0
edgegpu_gpu_probe_begin:
    .incbin ")" EDGEGPU_GPU_PROBE R"("
edgegpu_gpu_probe_end:
    .byte 0
    .text
)");

extern "C" const char edgegpu_gpu_health_begin[];  // NOLINT(modernize-avoid-c-arrays)
extern "C" const char edgegpu_gpu_health_end[];    // NOLINT(modernize-avoid-c-arrays)
extern "C" const char edgegpu_gpu_probe_begin[];   // NOLINT(modernize-avoid-c-arrays)
extern "C" const char edgegpu_gpu_probe_end[];     // NOLINT(modernize-avoid-c-arrays)

namespace edgegpu {

std::string_view gpu_health_program() noexcept {
    const char* const begin = edgegpu_gpu_health_begin;
    return {begin, static_cast<std::size_t>(edgegpu_gpu_health_end - begin)};
}

std::string_view gpu_probe_program() noexcept {
    const char* const begin = edgegpu_gpu_probe_begin;
    return {begin, static_cast<std::size_t>(edgegpu_gpu_probe_end - begin)};
}

}  // namespace edgegpu
