#include "sandbox/launcher_image.hpp"

// EDGEGPU_LAUNCHER is the path of the executable, set by CMake.
asm(R"(
    .section .rodata
    .global edgegpu_launcher_begin
    .global edgegpu_launcher_end
edgegpu_launcher_begin:
    .incbin ")" EDGEGPU_LAUNCHER R"("
edgegpu_launcher_end:
    .byte 0
    .text
)");

extern "C" const char edgegpu_launcher_begin[];  // NOLINT(modernize-avoid-c-arrays)
extern "C" const char edgegpu_launcher_end[];    // NOLINT(modernize-avoid-c-arrays)

namespace edgegpu {

std::string_view launcher_image() noexcept {
    const char* const begin = edgegpu_launcher_begin;
    return {begin, static_cast<std::size_t>(edgegpu_launcher_end - begin)};
}

}  // namespace edgegpu
