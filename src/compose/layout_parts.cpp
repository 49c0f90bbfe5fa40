#include "compose/layout_parts.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "support/error.hpp"
#include "support/text/deployed_path.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

const Entry* entry_itself(const Tree& tree, std::string_view path) {
    const auto found = tree.entries.find(path);
    return found == tree.entries.end() ? nullptr : &found->second;
}

bool is_of_type(const Tree& tree, std::string_view path, EntryType type) {
    const Entry* entry = entry_itself(tree, path);
    return entry != nullptr && entry->type == type;
}

std::string kind_of(const Entry& entry) {
    return entry.type == EntryType::symlink     ? "link to " + entry.target
           : entry.type == EntryType::directory ? "directory"
                                                : "file";
}

void move_directory(Tree& tree, const std::string& from, const std::string& to) {
    Entries moved = take_subtree(tree.entries, from);
    for (auto& [path, entry] : moved) {
        const std::string place = to + path.substr(from.size());
        const Entry* old = entry_itself(tree, place);
        const bool both_directories = old != nullptr && old->type == EntryType::directory &&
                                      entry.type == EntryType::directory;
        const bool equal = old != nullptr && old->type == entry.type &&
                           old->digest == entry.digest && old->target == entry.target;
        if (old != nullptr && !both_directories && !equal) {
            throw error("{} belongs at {} in a commit, and the image has another {} there", path,
                        place, kind_of(*old));
        }
        if (!both_directories) {
            tree.entries[place] = std::move(entry);
        }
    }
}

void check_top_level(const Tree& tree) {
    const auto has = [](const auto& names, const std::string& path) {
        return std::ranges::find(names, path) != names.end();
    };
    for (const auto& [path, entry] : tree.entries) {
        if (path.find('/', 1) != std::string::npos || path == "/" ||
            has(top_level_directories, path) || has(tree.mount_points, path)) {
            continue;
        }
        const bool merged = has(merged_directories, path);
        if (merged && entry.type == EntryType::symlink) {
            continue;
        }
        if (merged) {
            throw error("{} is a directory: the image is not usr-merged", path)
                .hinted("it must be a link to usr" + path);
        }
        throw error("{}: a commit cannot contain this path", path)
            .hinted(
                "packages and overlays can have files in /usr, /etc, /opt and /var; see "
                "docs/architecture.md");
    }
}

void empty_machine_id(const Context& ctx, Tree& tree) {
    const std::string path = "/etc/machine-id";
    const std::string id = find_entry(tree, path) != nullptr ? read_entry(tree, path) : "";
    if (trim_end(id) == "uninitialized") {
        return;
    }
    if (!trim_end(id).empty()) {
        ctx.console->warn(
            fmt::format("left out: the content of {}, which would be the same on all devices; each "
                        "makes its own at its first boot",
                        path));
    }
    put_entry(tree, path, make_file_entry(ctx, "", 0444));
}

void remove_boot_copies(Tree& tree) {
    static constexpr std::array<std::string_view, 5> copies{
        "/boot/vmlinuz", "/boot/initrd", "/boot/initramfs", "/boot/.vmlinuz", "/boot/System.map"};
    std::erase_if(tree.entries, [](const auto& at) {
        return std::any_of(copies.begin(), copies.end(), [&](std::string_view copy) {
            return at.first.starts_with(copy) && at.first.find('/', 6) == std::string::npos;
        });
    });
}

}  // namespace edgegpu
