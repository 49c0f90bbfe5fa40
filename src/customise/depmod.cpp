#include <string>

#include <fmt/format.h>

#include "customise/customise.hpp"
#include "support/error.hpp"
#include "support/sandbox.hpp"

namespace edgegpu {

namespace {

/// Clients and boot loaders' generators look for the kernel beside its modules only.
void place_kernel(Tree& tree, const std::string& modules) {
    const std::string place = modules + "/vmlinuz";
    if (find_entry(tree, place) != nullptr) {
        return;
    }
    const Entry* in_boot = find_entry(tree, "/boot/vmlinuz-" + tree.kernel);
    if (in_boot == nullptr || in_boot->type != EntryType::file) {
        throw error("the image has no kernel image for {}", tree.kernel)
            .hinted(fmt::format("expected {} or /boot/vmlinuz-{}", place, tree.kernel));
    }
    const Entry kernel = *in_boot;
    put_entry(tree, place, kernel);
}

}  // namespace

void run_depmod(const Context& ctx, Tree& tree) {
    const std::string modules = "/usr/lib/modules/" + tree.kernel;
    const Entry* directory = find_entry(tree, modules);
    if (tree.kernel.empty() || directory == nullptr) {
        throw error("the image has no modules of kernel '{}'", tree.kernel);
    }
    place_kernel(tree, modules);
    SandboxCommand command;
    command.root = tree.root;
    command.kernel = tree.kernel;
    command.argv = {"depmod", "-a", tree.kernel};
    const ProcessResult result = run_in_sandbox(ctx, command);
    if (result.status != 0) {
        throw error("the image's depmod failed with status {} for kernel {}", result.status,
                    tree.kernel)
            .traced(result.output);
    }
    sync_tree(ctx, tree);
}

}  // namespace edgegpu
