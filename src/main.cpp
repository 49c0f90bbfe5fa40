#include <exception>
#include <new>

#include <fmt/format.h>
#include <malloc.h>

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

}  // namespace

/// Wires the command line to the commands, and is the only place where errors are caught.
int main(int argc, char** argv) {
    using edgegpu::Error;
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
