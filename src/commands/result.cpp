#include <cerrno>
#include <cstdio>

#include "commands/commands.hpp"
#include "support/error.hpp"

namespace edgegpu {

void print_result(std::string_view text) {
    // Flushed here, because a full disk or a closed pipe shows only then, and must not pass for
    // success.
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() ||
        std::fflush(stdout) != 0) {
        throw errno_error("cannot write to standard output", errno);
    }
}

}  // namespace edgegpu
