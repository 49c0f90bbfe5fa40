#include "customise/kernel/depmod.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cache/store.hpp"
#include "image/kept_entries.hpp"
#include "sandbox/sandbox.hpp"
#include "support/digest.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

/// Copies the kernel from /boot to the directory of its modules, where ostree clients and
/// generators of boot loaders expect it.
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

/// Whether depmod writes the file `name` in a kernel's module directory (kmod's depmod.c); the
/// other modules.* files are shipped with the kernel.
bool is_index(std::string_view name) {
    static constexpr std::array shipped{"modules.order", "modules.builtin",
                                        "modules.builtin.modinfo", "modules.builtin.ranges"};
    for (const std::string_view other : shipped) {
        if (name == other) {
            return false;
        }
    }
    return name.starts_with("modules.") && name.find('/') == std::string_view::npos;
}

/// Digest of the inputs of depmod: modules, configuration, and the program.
std::string indexes_key(const Tree& tree, const std::string& modules) {
    Sha256 key;
    key.update_field("edgegpu depmod 1");
    key.update_field(tree.kernel);
    const auto add_below = [&](const std::string& directory) {
        for (const auto& [path, entry] : entries_below(tree.entries, directory)) {
            const std::string_view name = std::string_view(path).substr(directory.size() + 1);
            if (directory == modules && (is_index(name) || name == "initramfs.img")) {
                continue;
            }
            key.update_field(path);
            key.update_field(entry.digest);
            key.update_field(entry.target);
        }
    };
    for (const std::string& directory :
         {modules, std::string("/etc/depmod.d"), std::string("/usr/lib/depmod.d")}) {
        add_below(directory);
    }
    if (const Entry* program = find_entry(tree, "/usr/sbin/depmod")) {
        key.update_field(program->digest);
    }
    return key.hex();
}

void run_in_image(const Context& ctx, Tree& tree) {
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

/// The indexes in the tree.
Entries indexes_of(const Tree& tree, const std::string& modules) {
    Entries indexes;
    for (const auto& [path, entry] : entries_below(tree.entries, modules)) {
        if (is_index(std::string_view(path).substr(modules.size() + 1))) {
            indexes.emplace(path, entry);
        }
    }
    return indexes;
}

/// Each has a file `indexes`: the paths of the indexes and their entries (format_entries).
constexpr StoreKind kept_indexes{"depmod", 2, EntryKind::depmod};
constexpr const char* indexes_name = "indexes";

}  // namespace

void run_depmod(const Context& ctx, Tree& tree) {
    const std::string modules = "/usr/lib/modules/" + tree.kernel;
    const Entry* directory = find_entry(tree, modules);
    if (tree.kernel.empty() || directory == nullptr || directory->type != EntryType::directory) {
        throw error("the image has no modules of kernel '{}'", tree.kernel)
            .hinted(fmt::format("expected the directory {}: check that no package or overlay has a "
                                "link in its path",
                                modules));
    }
    place_kernel(tree, modules);
    const Entries indexes = find_or_make(
        ctx, kept_indexes, indexes_key(tree, modules), "is running depmod on the same modules",
        [&](const StoredEntry& entry) {
            const std::string* text = entry.find(indexes_name);
            return text != nullptr ? parse_entries(ctx, *text) : std::nullopt;
        },
        [&](NewEntry& entry) {
            run_in_image(ctx, tree);
            Entries made = indexes_of(tree, modules);
            if (const auto text = format_entries(ctx, made)) {
                entry.add(indexes_name, *text);
            } else {
                entry.forget();
            }
            return made;
        });
    for (const auto& [path, entry] : indexes) {
        put_entry(tree, path, entry);
    }
}

}  // namespace edgegpu
