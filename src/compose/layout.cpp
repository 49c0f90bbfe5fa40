#include "compose/layout.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "compose/accounts_split.hpp"
#include "compose/var_to_tmpfiles.hpp"
#include "support/error.hpp"
#include "support/text/deployed_path.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// The entry at exactly this path, without following links, or nullptr.
const Entry* literal(const Tree& tree, std::string_view path) {
    const auto found = tree.entries.find(path);
    return found == tree.entries.end() ? nullptr : &found->second;
}

bool is_type(const Tree& tree, std::string_view path, EntryType type) {
    const Entry* entry = literal(tree, path);
    return entry != nullptr && entry->type == type;
}

std::string describe(const Entry& entry) {
    return entry.type == EntryType::symlink     ? "link to " + entry.target
           : entry.type == EntryType::directory ? "directory"
                                                : "file";
}

/// Moves the directory `from` with its content to `to`. Throws if both have a file that differs.
void move_directory(Tree& tree, const std::string& from, const std::string& to) {
    Entries moved = take_subtree(tree.entries, from);
    for (auto& [path, entry] : moved) {
        const std::string place = to + path.substr(from.size());
        const Entry* old = literal(tree, place);
        const bool both_directories = old != nullptr && old->type == EntryType::directory &&
                                      entry.type == EntryType::directory;
        const bool equal = old != nullptr && old->type == entry.type &&
                           old->digest == entry.digest && old->target == entry.target;
        if (old != nullptr && !both_directories && !equal) {
            throw error("{} belongs at {} in a commit, and the image has another {} there", path,
                        place, describe(*old));
        }
        if (!both_directories) {
            tree.entries[place] = std::move(entry);
        }
    }
}

/// Moves the policy store from /var, which is not in the commit, to /etc, where rollbacks keep it
/// together with the policy; store-root in semanage.conf points libsemanage there.
void move_policy_store(const Context& ctx, Tree& tree) {
    if (!is_type(tree, "/var/lib/selinux", EntryType::directory)) {
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
        if (is_type(tree, old, EntryType::directory)) {
            move_directory(tree, old, database);
        }
    }
    if (!is_type(tree, database, EntryType::directory)) {
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
    static constexpr std::array<std::string_view, 5> copies{
        "/boot/vmlinuz", "/boot/initrd", "/boot/initramfs", "/boot/.vmlinuz", "/boot/System.map"};
    std::erase_if(tree.entries, [](const auto& at) {
        return std::any_of(copies.begin(), copies.end(), [&](std::string_view copy) {
            return at.first.starts_with(copy) && at.first.find('/', 6) == std::string::npos;
        });
    });
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
        if (is_type(tree, place.path, EntryType::directory)) {
            move_directory(tree, std::string(place.path), std::string(place.target));
        } else if (literal(tree, place.path) != nullptr &&
                   resolve_in_tree(tree, place.path) != place.target) {
            throw error("{} is a {} in the image, and has to be a link to {} in a commit",
                        place.path, describe(*literal(tree, place.path)), place.link);
        }
        if (literal(tree, place.target) == nullptr) {
            put_entry(tree, place.target, directory_entry(place.mode));
        }
        tree.entries[std::string(place.path)] = link_to(place.link);
    }
    for (const char* name : {"bin", "etc", "games", "include", "lib", "sbin", "share", "src"}) {
        const std::string path = fmt::format("/var/usrlocal/{}", name);
        if (literal(tree, path) == nullptr) {
            tree.entries[path] = directory_entry(0755);
        }
    }
}

void move_alternatives(Tree& tree) {
    if (is_type(tree, "/var/lib/alternatives", EntryType::directory)) {
        move_directory(tree, "/var/lib/alternatives", "/usr/lib/alternatives");
        put_entry(tree, "/var/lib/alternatives", link_to("../../usr/lib/alternatives"));
    }
}

/// Devices generate their machine id at the first boot if the file is empty or says "uninitialized"
/// (machine-id(5)); one in the image would be that of all of them.
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

/// Empties mount points, whose content would be hidden on a device; warns unless they are empty.
void empty_mount_points(const Context& ctx, Tree& tree) {
    static constexpr std::array<std::pair<std::string_view, unsigned>, 8> points{
        {{"/boot", 0755},
         {"/dev", 0755},
         {"/proc", 0555},
         {"/run", 0755},
         {"/sys", 0555},
         {"/tmp", 01777},
         {"/var", 0755},
         {"/sysroot", 0755}}};
    for (const auto& [point, mode] : points) {
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
    }
    tree.entries["/ostree"] = link_to("sysroot/ostree");
    tree.entries["/"] = directory_entry(0755);
}

/// Throws for a top-level path that no rule translates, instead of dropping it.
void check_top_level(const Tree& tree) {
    static const std::set<std::string, std::less<>> known{
        "/",     "/boot", "/dev", "/etc", "/home", "/media", "/mnt", "/opt", "/ostree",
        "/proc", "/root", "/run", "/srv", "/sys",  "/tmp",   "/usr", "/var", "/sysroot"};
    static const std::set<std::string, std::less<>> merged{"/bin",   "/sbin",  "/lib",
                                                           "/lib32", "/lib64", "/libx32"};
    for (const auto& [path, entry] : tree.entries) {
        if (path.find('/', 1) != std::string::npos || known.contains(path) ||
            std::ranges::find(tree.mount_points, path) != tree.mount_points.end()) {
            continue;
        }
        if (merged.contains(path) && entry.type == EntryType::symlink) {
            continue;
        }
        if (merged.contains(path)) {
            throw error("{} is a directory: the image is not usr-merged", path)
                .hinted("it must be a link to usr" + path);
        }
        throw error("{}: a commit cannot contain this path", path)
            .hinted(
                "packages and overlays can have files in /usr, /etc, /opt and /var; see "
                "docs/architecture.md");
    }
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
