#include "compose/snapshot_layout.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "compose/layout_parts.hpp"
#include "compose/var_to_tmpfiles.hpp"
#include "image/account_files.hpp"
#include "support/files/digest.hpp"

namespace edgegpu {

namespace {

/// Subvolumes of SL Micro (/var is one as well), and directories for mounts, with their modes.
constexpr std::array<std::pair<std::string_view, unsigned>, 7> subvolumes{{{"/home", 0755},
                                                                           {"/media", 0755},
                                                                           {"/mnt", 0755},
                                                                           {"/opt", 0755},
                                                                           {"/root", 0700},
                                                                           {"/srv", 0755},
                                                                           {"/usr/local", 0755}}};

/// Empties a directory that is the device's. Directories that packages have in it are not missed:
/// the device has them already.
void leave_to_device(const Context& ctx, std::string_view path, unsigned mode, Tree& tree) {
    const EntryRange below = entries_below(tree.entries, path);
    const auto lost = std::ranges::find_if(
        below, [](const auto& at) { return at.second.type != EntryType::directory; });
    if (lost != below.end() && path != "/dev") {
        ctx.console->warn(
            fmt::format("left out: {} (and everything else in {}, which belongs to the device: "
                        "transactional-update apply-oci does not write to it)",
                        lost->first, path));
    }
    static_cast<void>(take_subtree(tree.entries, std::string(path)));
    tree.entries[std::string(path)] = directory_entry(mode);
}

/// SUSE's rpm has its database there; others' are moved.
void place_database(Tree& tree) {
    const std::string database = "/usr/lib/sysimage/rpm";
    for (const std::string old : {"/var/lib/rpm", "/usr/share/rpm"}) {
        if (is_of_type(tree, old, EntryType::directory)) {
            if (is_of_type(tree, database, EntryType::symlink)) {
                tree.entries.erase(database);
            }
            move_directory(tree, old, database);
        }
    }
    put_entry(tree, "/var/lib/rpm", link_to("../../usr/lib/sysimage/rpm"));
}

/// grub2-mkconfig and dracut look for kernels in /boot; SUSE's packages link them from there.
void link_kernel(Tree& tree) {
    remove_boot_copies(tree);
    const std::string name = fmt::format("vmlinuz-{}", tree.kernel);
    put_entry(tree, "/boot/" + name,
              link_to(fmt::format("../usr/lib/modules/{}/vmlinuz", tree.kernel)));
    put_entry(tree, "/boot/vmlinuz", link_to(name));
    put_entry(tree, "/boot/initrd", link_to(fmt::format("initrd-{}", tree.kernel)));
}

/// A field of sysusers.d(5): quoted, without specifiers; "-" for none.
std::string sysusers_field(std::string_view text) {
    std::string field;
    for (const char c : text) {
        if (c == '%') {
            field += "%%";
        } else if (c != '"' && c != '\\') {
            field += c;
        }
    }
    return field.empty() ? "-" : '"' + field + '"';
}

/// The accounts that packages brought, with the numbers that their files have, for devices, whose
/// passwd and group stay. They come first: packages leave most numbers to the device.
void declare_accounts(const Context& ctx, Tree& tree) {
    constexpr std::size_t group_fields = 4;
    constexpr std::size_t user_fields = 7;
    const auto packaged = [&](const char* path) {
        const auto found = tree.packaged_accounts.find(path);
        return parse_accounts(found == tree.packaged_accounts.end() ? "" : found->second);
    };
    const AccountFile groups = packaged("/etc/group");
    std::string lines =
        "# The accounts of the image's packages, with the numbers of their files.\n";
    std::string members;
    for (const AccountFile::Row& group : groups.rows) {
        lines += fmt::format("g {} {}\n", group.front(), account_id(group));
        if (group.size() >= group_fields) {
            for (const std::string& member : split_members(group[group_fields - 1])) {
                members += fmt::format("m {} {}\n", member, group.front());
            }
        }
    }
    for (const AccountFile::Row& user : packaged("/etc/passwd").rows) {
        if (user.size() == user_fields) {
            lines += fmt::format("u {} {}:{} {} {} {}\n", user.front(), account_id(user), user[3],
                                 sysusers_field(user[4]), sysusers_field(user[5]),
                                 sysusers_field(user[6]));
        }
    }
    put_entry(tree, "/usr/lib/sysusers.d/00-edgegpu.conf",
              make_file_entry(ctx, lines + members, 0644));
}

/// A digest of everything below /usr, by which devices notice a new image
/// (customise/device/snapshot-update).
void add_image_id(const Context& ctx, Tree& tree) {
    Sha256 digest;
    for (const auto& [path, entry] : entries_below(tree.entries, "/usr")) {
        digest.update_field(path);
        digest.update_field(fmt::format("{} {:o} {} {} {}", static_cast<int>(entry.type),
                                        entry.mode, entry.uid, entry.gid, entry.digest));
        digest.update_field(entry.target);
    }
    put_entry(tree, "/usr/lib/edgegpu/image-id", make_file_entry(ctx, digest.hex() + "\n", 0644));
}

}  // namespace

void finish_snapshot_layout(const Context& ctx, Tree& tree) {
    // No program of the image runs after this; without a root only the entries are changed.
    tree.root.clear();
    check_top_level(tree);
    place_database(tree);
    link_kernel(tree);
    for (const auto& [path, mode] : subvolumes) {
        leave_to_device(ctx, path, mode, tree);
    }
    move_var_to_tmpfiles(ctx, tree);
    declare_accounts(ctx, tree);
    empty_machine_id(ctx, tree);
    for (const auto& [path, mode] : mount_points_of_all) {
        leave_to_device(ctx, path, mode, tree);
    }
    tree.entries["/"] = directory_entry(0755);
    add_image_id(ctx, tree);
}

}  // namespace edgegpu
