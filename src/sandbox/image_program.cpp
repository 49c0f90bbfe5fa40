#include "sandbox/image_program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sandbox/sandbox.hpp"
#include "support/error.hpp"

namespace edgegpu {

bool has_program(const Tree& tree, std::string_view name) {
    return find_entry(tree, fmt::format("/usr/bin/{}", name)) != nullptr ||
           find_entry(tree, fmt::format("/usr/sbin/{}", name)) != nullptr;
}

void run_image_program(const Context& ctx, const Tree& tree, const std::vector<std::string>& argv,
                       const std::string& place) {
    SandboxCommand command;
    command.root = tree.root;
    command.kernel = tree.kernel;
    command.argv = argv;
    const ProcessResult result = run_in_sandbox(ctx, command);
    if (result.status != 0) {
        throw error("{}{}{} failed in the image with status {}", place, place.empty() ? "" : ": ",
                    fmt::join(argv, " "), result.status)
            .traced(result.output);
    }
}

}  // namespace edgegpu
