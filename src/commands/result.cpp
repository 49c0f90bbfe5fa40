#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "commands/commands.hpp"
#include "support/error.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

void print_result(std::string_view result) {
    const std::string text = printable_result(result);
    // Flushed here, because a full disk or a closed pipe shows only then, and must not pass for
    // success.
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() ||
        std::fflush(stdout) != 0) {
        // Not errno_error: its hint for a full disk is about the build, which is over.
        throw error("cannot write to standard output: {}", strerrordesc_np(errno));
    }
}

}  // namespace edgegpu
