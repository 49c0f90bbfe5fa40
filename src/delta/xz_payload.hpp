#pragma once

#include <string>
#include <string_view>

#include "execution/context.hpp"

namespace edgegpu {

/// The payload of a delta's part as it is in its file: "x", then an XZ stream with a dictionary
/// that all clients have memory for. Large payloads are compressed in blocks of 64 MiB, two at a
/// time where `ctx` has two jobs, each of which takes about 500 MiB of memory; the bytes are the
/// same with one. Throws Error without memory, and if `ctx` is cancelled.
[[nodiscard]] std::string xz_payload(const Context& ctx, std::string_view payload);

}  // namespace edgegpu
