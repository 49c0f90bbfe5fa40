#pragma once

#include <string_view>

#include "support/context.hpp"
#include "support/error.hpp"
#include "support/process.hpp"

namespace edgegpu {

/// How many processes one program of an image may have at the same time, itself included: 1,024, or
/// 16 for each processor where that is more.
[[nodiscard]] unsigned processes_of_a_program();

/// How many of them the kernel allows in one build, whichever programs they come from.
[[nodiscard]] unsigned processes_of_a_build();

/// What one program of an image may use: the time that `--program-timeout` gives, `patience` times
/// over; three quarters of the machine's memory; `processes_of_a_program`; files of 32 GiB; and the
/// disk of the cache to its last GiB, or to half of what is free there now where that is less.
[[nodiscard]] ProcessLimits program_limits(const Context& ctx, unsigned patience = 1);

/// What a program may put into a temporary directory, which is memory, in bytes.
[[nodiscard]] std::uint64_t temporary_space();

/// Throws the Error that names `who` ("package X: %post", "'dracut' of the image"), the limit and
/// the way out, if one of them ended the program.
void check_limits(std::string_view who, const ProcessLimits& limits, const ProcessResult& result);

}  // namespace edgegpu
