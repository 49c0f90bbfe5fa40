#pragma once

#include <string_view>

#include "support/context.hpp"
#include "support/error.hpp"
#include "support/process.hpp"

namespace edgegpu {

/// How many processes of images the kernel allows at the same time in one build, whoever runs them.
constexpr unsigned image_processes_at_most = 16'384;

/// What one program of an image may use: the time that `--program-timeout` gives, `patience` times
/// over; three quarters of the machine's memory; 4,096 processes; files of 32 GiB; and the disk of
/// the cache to its last GiB, or to half of what is free there now where that is less.
[[nodiscard]] ProcessLimits program_limits(const Context& ctx, unsigned patience = 1);

/// What a program may put into a temporary directory, which is memory, in bytes.
[[nodiscard]] std::uint64_t temporary_space();

/// Throws the Error that names `who` ("package X: %post", "'dracut' of the image"), the limit and
/// the way out, if one of them ended the program.
void check_limits(std::string_view who, const ProcessLimits& limits, const ProcessResult& result);

}  // namespace edgegpu
