#include <exception>
#include <new>

#include <fmt/format.h>

#include "commands/cli.hpp"
#include "compose/rpmdb_process.hpp"
#include "execution/interrupt.hpp"
#include "support/error.hpp"

/// Wires the command line to the commands, and is the only place where errors are caught.
int main(int argc, char** argv) {
    using edgegpu::Error;
    if (const auto status = edgegpu::serve_as_rpmdb_process(argc, argv)) {
        return *status;
    }
    edgegpu::RunningCommand running;
    try {
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
