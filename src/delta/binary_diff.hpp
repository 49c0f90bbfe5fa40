#pragma once

#include <string>
#include <string_view>

#include "execution/context.hpp"

namespace edgegpu {

/// What makes `made` of `old`, in the format that libostree's clients apply (bspatch.c of
/// mendsley/bsdiff): records of three numbers of 8 bytes (how many bytes of `old` follow to which
/// as many of the record are added, how many bytes of its own come then, how far to go on in `old`
/// after that) and these bytes. The numbers are little-endian, the highest bit is their sign.
///
/// It has as many bytes as `made`, and 24 a record, nearly all of them zero where the two are
/// alike: it is to be compressed. Takes five times the size of `old` in memory. Throws Error
/// without memory, for 2 GiB or more, and if `ctx` is cancelled.
[[nodiscard]] std::string binary_diff(const Context& ctx, std::string_view old,
                                      std::string_view made);

/// Whether a client that applies `diff` to `old` gets `made`.
[[nodiscard]] bool makes(std::string_view diff, std::string_view old, std::string_view made);

}  // namespace edgegpu
