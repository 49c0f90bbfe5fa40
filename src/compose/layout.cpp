#include "compose/layout.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "compose/accounts_split.hpp"
#include "compose/layout_parts.hpp"
#include "compose/var_to_tmpfiles.hpp"
#include "support/error.hpp"
#include "support/text/deployed_path.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// Moves the policy store from /var, which is not in the commit, to /etc, where rollbacks keep it
/// together with the policy; store-root in semanage.conf points libsemanage there.
void move_policy_store(const Context& ctx, Tree& tree) {
    if (!is_of_type(tree, "/var/lib/selinux", EntryType::directory)) {
        return;
    }
    move_directory(tree, "/var/lib/selinux", "/etc/selinux");
    const std::string path = "/etc/selinux/semanage.conf";
    std::string text;
    unsigned mode = 0644;
    if (const Entry* old = find_entry(tree, path)) {
        mode = old->mode;
        const std::string before = read_entry(tree, path);
        for (const std::string_view line : lines_of(before)) {
            if (!line.starts_with("store-root")) {
                text.append(line) += '\n';
            }
        }
    }
    put_entry(tree, path, make_file_entry(ctx, text + "store-root=/etc/selinux\n", mode));
}

/// Adds aliases to the policy's file_contexts.subs_dist, so that files in /var are labelled by
/// their original path: policies have contexts for /home, not for /var/home. Existing lines for
/// these paths stay.
void alias_var_labels(const Context& ctx, Tree& tree) {
    Entries changed;
    for (const auto& [path, entry] : entries_below(tree.entries, "/etc/selinux")) {
        if (!path.ends_with("/contexts/files/file_contexts.subs_dist") ||
            entry.type != EntryType::file) {
            continue;
        }
        std::string text = read_entry(tree, path);
        const std::string before = "\n" + text;
        if (!text.empty() && !text.ends_with('\n')) {
            text += '\n';
        }
        const auto add = [&](std::string_view alias, std::string_view original) {
            if (before.find(fmt::format("\n{} ", alias)) == std::string::npos &&
                before.find(fmt::format("\n{}\t", alias)) == std::string::npos) {
                text += fmt::format("{} {}\n", alias, original);
            }
        };
        for (const MovedDirectory& moved : moved_directories) {
            if (moved.target.starts_with("/var/")) {
                add(moved.target, moved.path);
            }
        }
        add("/usr/lib/opt", "/opt");
        changed[path] = make_file_entry(ctx, text, entry.mode);
    }
    for (auto& [path, entry] : changed) {
        tree.entries[path] = std::move(entry);
    }
}

/// Places the rpmdb where rpm-ostree's clients expect it: /usr/share/rpm, and a copy as the "base"
/// for layered packages.
void place_rpmdb(Tree& tree) {
    const std::string database = "/usr/share/rpm";
    for (const std::string old : {"/var/lib/rpm", "/usr/lib/sysimage/rpm"}) {
        if (is_of_type(tree, old, EntryType::directory)) {
            move_directory(tree, old, database);
        }
    }
    if (!is_of_type(tree, database, EntryType::directory)) {
        return;
    }
    put_entry(tree, "/var/lib/rpm", link_to("../../usr/share/rpm"));
    put_entry(tree, "/usr/lib/sysimage/rpm", link_to("../../share/rpm"));
    const std::string base = "/usr/lib/sysimage/rpm-ostree-base-db";
    Entries copies;
    for (const auto& [path, entry] : entries_below(tree.entries, database)) {
        copies[base + path.substr(database.size())] = entry;
    }
    tree.entries[base] = directory_entry(0755);
    tree.entries.merge(copies);
}

/// Moves /boot to /usr/lib/ostree-boot for tools of boot loaders, without kernels and initramfs
/// images, which are in /usr/lib/modules.
void move_boot(Tree& tree) {
    remove_boot_copies(tree);
    if (!entries_below(tree.entries, "/boot").empty()) {
        move_directory(tree, "/boot", "/usr/lib/ostree-boot");
    }
}

/// /opt/NAME → /usr/lib/opt/NAME, with a link in /var/opt.
void move_opt(Tree& tree) {
    std::set<std::string> names;
    for (const auto& [path, entry] : entries_below(tree.entries, "/opt")) {
        names.insert(path.substr(5, path.find('/', 5) - 5));
    }
    if (names.empty()) {
        return;
    }
    move_directory(tree, "/opt", "/usr/lib/opt");
    for (const std::string& name : names) {
        put_entry(tree, "/var/opt/" + name, link_to("../../usr/lib/opt/" + name));
    }
}

/// A directory that belongs to the device: the link that replaces it, and its target with mode.
struct VarPlace {
    std::string_view path;
    std::string_view target;
    std::string_view link;
    unsigned mode;
};

constexpr std::array<VarPlace, 7> var_places{
    {{"/home", "/var/home", "var/home", 0755},
     {"/root", "/var/roothome", "var/roothome", 0700},
     {"/srv", "/var/srv", "var/srv", 0755},
     {"/opt", "/var/opt", "var/opt", 0755},
     {"/mnt", "/var/mnt", "var/mnt", 0755},
     {"/media", "/run/media", "run/media", 0755},
     {"/usr/local", "/var/usrlocal", "../var/usrlocal", 0755}}};

void link_places_into_var(Tree& tree) {
    for (const VarPlace& place : var_places) {
        if (is_of_type(tree, place.path, EntryType::directory)) {
            move_directory(tree, std::string(place.path), std::string(place.target));
        } else if (entry_itself(tree, place.path) != nullptr &&
                   resolve_in_tree(tree, place.path) != place.target) {
            throw error("{} is a {} in the image, and has to be a link to {} in a commit",
                        place.path, kind_of(*entry_itself(tree, place.path)), place.link);
        }
        if (entry_itself(tree, place.target) == nullptr) {
            put_entry(tree, place.target, directory_entry(place.mode));
        }
        tree.entries[std::string(place.path)] = link_to(place.link);
    }
    for (const char* name : {"bin", "etc", "games", "include", "lib", "sbin", "share", "src"}) {
        const std::string path = fmt::format("/var/usrlocal/{}", name);
        if (entry_itself(tree, path) == nullptr) {
            tree.entries[path] = directory_entry(0755);
        }
    }
}

void move_alternatives(Tree& tree) {
    if (is_of_type(tree, "/var/lib/alternatives", EntryType::directory)) {
        move_directory(tree, "/var/lib/alternatives", "/usr/lib/alternatives");
        put_entry(tree, "/var/lib/alternatives", link_to("../../usr/lib/alternatives"));
    }
}

/// Empties mount points, whose content would be hidden on a device; warns unless they are empty.
void empty_mount_points(const Context& ctx, Tree& tree) {
    const auto empty = [&](std::string_view point, unsigned mode) {
        if (const EntryRange hidden = entries_below(tree.entries, point); !hidden.empty()) {
            if (ctx.console != nullptr && point != "/dev") {
                ctx.console->warn(
                    fmt::format("left out: {} (and everything else in {}, which is a "
                                "mount point on devices)",
                                hidden.begin()->first, point));
            }
            remove_entry(tree, point);
        }
        tree.entries[std::string(point)] = directory_entry(mode);
    };
    empty("/boot", 0755);
    for (const auto& [point, mode] : mount_points_of_all) {
        empty(point, mode);
    }
    empty("/sysroot", 0755);
    tree.entries["/ostree"] = link_to("sysroot/ostree");
    tree.entries["/"] = directory_entry(0755);
}

void check_usr_etc(const Tree& tree) {
    if (const EntryRange usr_etc = entries_below(tree.entries, "/usr/etc"); !usr_etc.empty()) {
        throw error(
            "{}: packages must not contain /usr/etc, where ostree keeps the defaults of /etc",
            usr_etc.begin()->first);
    }
}

}  // namespace

void finish_layout(const Context& ctx, Tree& tree) {
    // No program of the image runs after this; without a root only the entries are changed.
    tree.root.clear();
    check_top_level(tree);
    check_usr_etc(tree);
    move_policy_store(ctx, tree);
    alias_var_labels(ctx, tree);
    move_alternatives(tree);
    place_rpmdb(tree);
    move_boot(tree);
    move_opt(tree);
    redirect_tmpfiles(ctx, tree);
    link_places_into_var(tree);
    split_accounts(ctx, tree);
    move_var_to_tmpfiles(ctx, tree);
    empty_machine_id(ctx, tree);
    tree.entries.erase("/usr/etc");
    move_directory(tree, "/etc", "/usr/etc");
    empty_mount_points(ctx, tree);
}

void add_mount_points(const std::vector<std::string>& points, Tree& tree) {
    for (const std::string& point : points) {
        for (std::size_t slash = 0; slash != std::string::npos;) {
            slash = point.find('/', slash + 1);
            tree.entries.try_emplace(point.substr(0, slash), directory_entry(0755));
        }
    }
}

}  // namespace edgegpu
