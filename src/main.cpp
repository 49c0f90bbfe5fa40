#include <cstdio>
#include <exception>
#include <new>

#include "blueprint/toml/mistakes.hpp"
#include "commands/cli.hpp"
#include "support/console.hpp"
#include "support/error.hpp"
#include "support/interrupt.hpp"

/// Wires the command line to the commands, and is the only place where errors are caught.
int main(int argc, char** argv) {
    using edgegpu::Error;
    edgegpu::Color color = edgegpu::Color::automatic;
    try {
        edgegpu::install_interrupt_handlers();
        return edgegpu::run_command_line(argc, argv, color);
    } catch (const Error& failure) {
        std::fputs(edgegpu::render_error(failure, edgegpu::use_color(color)).c_str(), stderr);
        return failure.exit_status();
    } catch (const std::bad_alloc&) {
        std::fputs("error: out of memory\n", stderr);
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "error: internal: %s\n", failure.what());
    }
    return 1;
}
