#include <exception>
#include <new>
#include <utility>

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include "commands/parser/cli.hpp"
#include "execution/child_call.hpp"
#include "execution/interrupt.hpp"
#include "support/error.hpp"
#include "support/files/build_id.hpp"

namespace {

/// Blocks of at least a MiB are given back when they are freed. By default glibc would keep what
/// has the size of the largest block ever freed, for each thread: all contents and streams of a
/// build's second, to its end.
void give_back_large_blocks() {
    ::mallopt(M_MMAP_THRESHOLD, 1 << 20);
    ::mallopt(M_TRIM_THRESHOLD, 8 << 20);
}

/// A file opened under the number of a standard stream that is closed would get what is written to
/// that stream. What is printed to such an output is an error then, as it is lost; messages are
/// not.
void occupy_standard_streams() {
    for (const auto& [stream, access] : {std::pair{STDIN_FILENO, O_WRONLY},
                                         {STDOUT_FILENO, O_RDONLY},
                                         {STDERR_FILENO, O_WRONLY}}) {
        if (::fcntl(stream, F_GETFD) == -1) {
            static_cast<void>(::open("/dev/null", access));
        }
    }
}

}  // namespace

/// Wires the command line to the commands, and is the only place where errors are caught.
int main(int argc, char** argv) {
    using edgegpu::Error;
    occupy_standard_streams();
    edgegpu::serve_child_call(argc, argv);
    give_back_large_blocks();
    edgegpu::RunningCommand running;
    try {
        // Before libraries are loaded at run time.
        static_cast<void>(edgegpu::program_identity());
        edgegpu::install_interrupt_handlers();
        return edgegpu::run_command_line(argc, argv, running);
    } catch (const Error& failure) {
        return edgegpu::report_failure(running, failure);
    } catch (const std::bad_alloc&) {
        return edgegpu::report_failure(running, Error("out of memory"));
    } catch (const std::exception& failure) {
        return edgegpu::report_failure(running, edgegpu::error("internal: {}", failure.what()));
    }
}
