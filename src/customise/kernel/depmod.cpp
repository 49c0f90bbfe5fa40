#include "customise/kernel/depmod.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cache/store.hpp"
#include "image/kept_entries.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"

namespace edgegpu {

namespace {

std::string modules_of(const Tree& tree) {
    return "/usr/lib/modules/" + tree.kernel;
}

void run_in_root(const Tree& tree, ToolRoot& tools) {
    SandboxCommand command;
    command.kernel = tree.kernel;
    command.argv = {"depmod", "-a", tree.kernel};
    const ProcessResult result = tools.run(std::move(command));
    if (result.status != 0) {
        throw error("the image's depmod failed with status {} for kernel {}", result.status,
                    tree.kernel)
            .traced(result.output);
    }
    tools.sync();
}

/// The indexes in the tree.
Entries indexes_of(const Tree& tree, const std::string& modules) {
    Entries indexes;
    for (const auto& [path, entry] : entries_below(tree.entries, modules)) {
        if (is_module_index(std::string_view(path).substr(modules.size() + 1))) {
            indexes.emplace(path, entry);
        }
    }
    return indexes;
}

/// Each has a file `indexes`: the paths of the indexes and their entries (format_entries).
constexpr StoreKind kept_indexes{"depmod", EntryKind::depmod};
constexpr const char* indexes_name = "indexes";

}  // namespace

bool is_module_index(std::string_view name) {
    static constexpr std::array shipped{"modules.order", "modules.builtin",
                                        "modules.builtin.modinfo", "modules.builtin.ranges"};
    for (const std::string_view other : shipped) {
        if (name == other) {
            return false;
        }
    }
    return name.starts_with("modules.") && name.find('/') == std::string_view::npos;
}

void place_kernel(Tree& tree) {
    const std::string modules = modules_of(tree);
    const Entry* directory = find_entry(tree, modules);
    if (tree.kernel.empty() || directory == nullptr || directory->type != EntryType::directory) {
        throw error("the image has no modules of kernel '{}'", tree.kernel)
            .hinted(fmt::format("expected the directory {}: check that no package or overlay has a "
                                "link in its path",
                                modules));
    }
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

void run_depmod(const Context& ctx, Tree& tree, ToolRoot& tools) {
    const std::string modules = modules_of(tree);
    Sha256 key;
    key.update_field(tree.kernel);
    key.update_field(tools.digest());
    const Entries indexes = find_or_make(
        ctx, kept_indexes, key.hex(), "is running depmod on the same modules",
        [&](const StoredEntry& entry) {
            const std::string* text = entry.find(indexes_name);
            return text != nullptr ? parse_entries(ctx, *text) : std::nullopt;
        },
        [&](NewEntry& entry) {
            run_in_root(tree, tools);
            Entries made = indexes_of(tools.tree(), modules);
            if (const auto text = format_entries(ctx, made)) {
                entry.add(indexes_name, *text);
            } else {
                entry.forget();
            }
            return made;
        });
    for (const auto& [path, entry] : indexes) {
        put_entry(tree, path, entry);
        tools.add(path, entry);
    }
}

}  // namespace edgegpu
