#include "compose/leftovers.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

namespace {

constexpr std::array<std::string_view, 13> leftovers{"/etc/passwd-",
                                                     "/etc/group-",
                                                     "/etc/shadow-",
                                                     "/etc/gshadow-",
                                                     "/etc/subuid-",
                                                     "/etc/subgid-",
                                                     "/etc/.pwd.lock",
                                                     "/etc/mtab.lock",
                                                     "/etc/.updated",
                                                     "/var/.updated",
                                                     "/var/cache/ldconfig",
                                                     "/var/lib/systemd/random-seed",
                                                     "/var/lib/systemd/catalog"};

bool is_byte_code(std::string_view path) {
    return path.ends_with(".pyc") && path.find("/__pycache__/") != std::string_view::npos;
}

}  // namespace

void remove_leftovers(const Context& ctx, const Entries& packaged, Tree& tree) {
    std::vector<std::string> left;
    for (const std::string_view path : leftovers) {
        for (const auto& [below, entry] : entries_below(tree.entries, path)) {
            left.push_back(below);
        }
        left.emplace_back(path);
    }
    Entries changed;
    for (const auto& [path, entry] : tree.entries) {
        if (!is_byte_code(path) || entry.type != EntryType::file) {
            continue;
        }
        const auto own = packaged.find(path);
        if (own == packaged.end()) {
            left.push_back(path);
        } else if (own->second.digest != entry.digest) {
            changed.emplace(path, own->second);
        }
    }
    for (const std::string& path : left) {
        if (tree.entries.contains(path) && !packaged.contains(path)) {
            remove_entry(tree, path);
        }
    }
    for (auto& [path, entry] : changed) {
        // The owner's number is known only in the tree.
        entry.uid = tree.entries.at(path).uid;
        entry.gid = tree.entries.at(path).gid;
        put_entry(tree, path, entry);
    }
    if (tree.entries.contains("/etc/machine-id")) {
        put_entry(tree, "/etc/machine-id", make_file_entry(ctx, "", 0444));
    }
}

}  // namespace edgegpu
