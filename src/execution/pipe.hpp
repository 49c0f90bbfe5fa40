#pragma once

#include <utility>

#include "support/handles.hpp"

namespace edgegpu {

/// What reading an empty pipe does: wait for bytes, or fail with EAGAIN.
enum class EmptyPipe { waits, fails };

/// A new pipe: its reading and its writing end, which programs do not inherit. Throws Error.
[[nodiscard]] std::pair<Fd, Fd> make_pipe(EmptyPipe empty = EmptyPipe::waits);

/// Two sockets that are connected (AF_UNIX, SOCK_STREAM), which programs do not inherit. Throws
/// Error.
[[nodiscard]] std::pair<Fd, Fd> make_sockets();

}  // namespace edgegpu
