#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "execution/context.hpp"
#include "execution/process.hpp"
#include "support/error.hpp"

namespace edgegpu {

/// How many processes one program of an image may have at the same time, including itself: 1,024,
/// or 16 per processor if that is more.
[[nodiscard]] unsigned processes_of_a_program();

/// How many processes the kernel allows for all programs of one build together.
[[nodiscard]] unsigned processes_of_a_build();

/// The limits of one program of an image: `--program-timeout` times `patience`; three quarters of
/// the machine's memory; `processes_of_a_program`; files of 32 GiB; and the cache's disk up to the
/// last GiB, or to half of the space that is free now if that is less.
[[nodiscard]] ProcessLimits program_limits(const Context& ctx, unsigned patience = 1);

/// The bytes of `directory`'s file system that a build leaves free: a GiB, or half of the space
/// that is free now if that is less.
[[nodiscard]] std::uint64_t space_to_leave(const std::filesystem::path& directory);

/// The size of a temporary directory in the sandbox, which is in memory, in bytes.
[[nodiscard]] std::uint64_t temporary_space();

/// If a limit ended the program, throws Error with `who` ("package X: %post", "'dracut' of the
/// image"), the limit, and the end of the output.
void check_limits(std::string_view who, const ProcessLimits& limits, const ProcessResult& result);

}  // namespace edgegpu
