#include "customise/kernel_arguments.hpp"

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "blueprint/validate.hpp"
#include "compose/kernel_arguments.hpp"
#include "customise/modprobe.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

std::string toml_string(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            quoted += '\\';
        }
        quoted += c;
    }
    return quoted + '"';
}

}  // namespace

void record_kernel_arguments(const Context& ctx, const Blueprint& blueprint, Tree& tree) {
    add_kernel_arguments(blueprint.kernel_arguments, tree.kernel_arguments);
    add_kernel_arguments(blacklist_arguments(blueprint.modprobe, tree.kernel_arguments),
                         tree.kernel_arguments);
    if (tree.kernel_arguments.empty()) {
        return;
    }
    std::string text;
    for (const std::string& argument : tree.kernel_arguments) {
        if (has_control_characters(argument)) {
            throw error(ErrorKind::usage, "{}: the kernel argument '{}' is not one line",
                        blueprint.path.string(), argument);
        }
        text += fmt::format("{}{}", text.empty() ? "kargs = [" : ", ", toml_string(argument));
    }
    put_entry(tree, "/usr/lib/bootc/kargs.d/10-edgegpu.toml",
              make_file_entry(ctx, text + "]\n", 0644));
}

}  // namespace edgegpu
