#include <csignal>
#include <cstdio>
#include <exception>

#include "commands/cli.hpp"
#include "support/error.hpp"
#include "support/interrupt.hpp"

/// Wires the command line to the commands, and is the only place where errors are caught.
int main(int argc, char** argv) {
    using edgegpu::Error;
    using edgegpu::ErrorKind;
    try {
        edgegpu::install_interrupt_handlers();
        return edgegpu::run_command_line(argc, argv);
    } catch (const Error& failure) {
        std::fputs(failure.render().c_str(), stderr);
        return failure.exit_status();
    } catch (const std::bad_alloc&) {
        std::fputs("error: out of memory\n", stderr);
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "error: internal: %s\n", failure.what());
    }
    return 1;
}
