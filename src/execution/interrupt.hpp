#pragma once

#include <atomic>

namespace edgegpu {

/// Makes SIGINT, SIGTERM and SIGHUP set the cancellation flag instead of ending the process, so
/// that mounts and temporary files are cleaned up; a second SIGINT or SIGTERM ends it at once.
/// SIGHUP stays ignored where whoever started the program ignores it (nohup). Ignores SIGPIPE, and
/// SIGXFSZ: a file that is larger than a limit (ulimit -f) is an error, and nothing is left of it.
/// Where whoever started the program ignores SIGCHLD, which programs inherit, the kernel keeps the
/// status of no child: it is not ignored any more.
/// Also sets umask 022, so that the umask of the user's shell has no effect on the image.
void install_interrupt_handlers();

/// The flag those handlers set; for Context::cancelled.
[[nodiscard]] const std::atomic<bool>& interrupted() noexcept;

}  // namespace edgegpu
