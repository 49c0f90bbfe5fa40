#include "customise/kernel/kernel_arguments.hpp"

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "customise/kernel/modprobe.hpp"
#include "customise/units/vendor_unit.hpp"
#include "embedded_kernel_arguments.hpp"
#include "image/kernel_arguments.hpp"
#include "support/error.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

void record_kernel_arguments(const Context& ctx, const std::vector<std::string>& arguments,
                             const SourceLocation& location, const ModprobeRequest& modprobe,
                             Tree& tree) {
    add_kernel_arguments(arguments, tree.kernel_arguments);
    add_kernel_arguments(blacklist_arguments(modprobe, tree.kernel_arguments),
                         tree.kernel_arguments);
    std::string toml;
    std::string list;
    if (const std::string problem = kernel_arguments_problem(tree.kernel_arguments);
        !problem.empty()) {
        const bool asked = !arguments.empty() && !kernel_arguments_problem(arguments).empty();
        throw error(asked ? ErrorKind::usage : ErrorKind::failure, "{}{}",
                    asked ? location.text() + ": " : "", problem)
            .hinted(asked ? "change 'append' of [customizations.kernel]"
                          : "a scriptlet of a package asked for it with grubby: leave the package "
                            "out, or shorten 'append' of [customizations.kernel]");
    }
    for (const std::string& argument : tree.kernel_arguments) {
        toml += fmt::format("{}{}", toml.empty() ? "kargs = [" : ", ", toml_string(argument));
        list += fmt::format("{}\n", argument);
    }
    if (!toml.empty()) {
        put_entry(tree, "/usr/lib/bootc/kargs.d/10-edgegpu.toml",
                  make_file_entry(ctx, toml + "]\n", 0644));
    }
    // Without arguments too: a device may have those of an earlier image.
    put_entry(tree, "/usr/lib/edgegpu/kernel-arguments", make_file_entry(ctx, list, 0644));
}

void add_kernel_arguments_unit(const Context& ctx, Tree& tree) {
    if (find_entry(tree, "/usr/lib/systemd/system/multi-user.target") == nullptr) {
        return;  // no systemd
    }
    put_entry(tree, "/usr/libexec/edgegpu/kernel-arguments",
              make_file_entry(ctx, embedded::kernel_arguments, 0755));
    add_vendor_unit(ctx, tree, "edgegpu-kernel-arguments.service", "multi-user.target",
                    std::string(embedded::edgegpu_kernel_arguments_service));
}

}  // namespace edgegpu
