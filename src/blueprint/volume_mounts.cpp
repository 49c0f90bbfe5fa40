#include "blueprint/volume_mounts.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "support/text/deployed_path.hpp"
#include "support/text/systemd_setting.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view fstab = "/etc/fstab";

/// Options that mounting ext4 accepts: those of mount(8) for any file system and of ext4(5),
/// without prjquota, which needs a feature (project) that the file systems of disks do not have.
constexpr auto known_options = std::to_array<std::string_view>(
    {// of any file system, and what SELinux reads
     "async", "atime", "auto", "comment", "context", "defaults", "defcontext", "dev", "diratime",
     "dirsync", "exec", "fscontext", "group", "iversion", "lazytime", "loud", "mand", "noatime",
     "noauto", "nodev", "nodiratime", "noexec", "nofail", "noiversion", "nolazytime", "nomand",
     "norelatime", "nostrictatime", "nosuid", "nosymfollow", "nouser", "owner", "private",
     "relatime", "remount", "ro", "rootcontext", "rw", "seclabel", "shared", "silent", "slave",
     "strictatime", "suid", "symfollow", "sync", "user", "users", "_netdev",
     // of ext4
     "abort", "acl", "auto_da_alloc", "barrier", "bh", "block_validity", "bsddf", "bsdgroups",
     "commit", "data", "data_err", "dax", "debug", "delalloc", "dioread_lock", "dioread_nolock",
     "discard", "errors", "grpid", "grpjquota", "grpquota", "i_version", "init_itable",
     "inlinecrypt", "inode_readahead_blks", "journal_async_commit", "journal_checksum",
     "journal_dev", "journal_ioprio", "journal_path", "jqfmt", "max_batch_time", "max_dir_size_kb",
     "mb_optimize_scan", "mblk_io_submit", "min_batch_time", "minixdf", "no_mbcache",
     "no_prefetch_block_bitmaps", "noacl", "noauto_da_alloc", "nobarrier", "nobh",
     "noblock_validity", "nodelalloc", "nodiscard", "nodioread_nolock", "nogrpid", "noinit_itable",
     "nojournal_checksum", "noload", "nombcache", "nomblk_io_submit", "noquota", "norecovery",
     "nouid32", "nouser_xattr", "nowarn_on_error", "oldalloc", "orlov", "prefetch_block_bitmaps",
     "quota", "resgid", "resuid", "sb", "stripe", "sysvgroups", "test_dummy_encryption",
     "user_xattr", "usrjquota", "usrquota", "warn_on_error"});

/// The names of options ("commit" of "commit=30"); a value in quotes may have commas.
std::vector<std::string_view> option_names(std::string_view options) {
    std::vector<std::string_view> names;
    bool quoted = false;
    std::size_t begin = 0;
    for (std::size_t at = 0; at <= options.size(); ++at) {
        quoted = quoted != (at < options.size() && options[at] == '"');
        if (at == options.size() || (options[at] == ',' && !quoted)) {
            const std::string_view option = trim(options.substr(begin, at - begin));
            names.push_back(option.substr(0, option.find('=')));
            begin = at + 1;
        }
    }
    return names;
}

/// Units below /usr do not count: those that systemd makes of fstab, which has a line for each
/// volume, come before them. Their drop-ins do.
bool is_unit_for(const std::string& point, const std::string& path, const MountFile& file) {
    if (path.find(fmt::format("/{}.d/", mount_unit_of(point))) != std::string::npos) {
        return true;
    }
    return path.starts_with("/etc/") && path.ends_with(".mount") &&
           deployed_path(last_setting(file.text, "Mount", "Where").value_or("/")) == point;
}

/// What devices would make of it. `options` are those of fstab's line: only there do they decide
/// whether local-fs.target requires the mount (systemd-fstab-generator). A unit's do not, as the
/// disk's fstab has a line without any of them. / is mounted in any case.
std::string effect_of(const std::string& point, std::string_view options) {
    constexpr auto not_required =
        std::to_array<std::string_view>({"nofail", "noauto", "x-systemd.automount"});
    for (const std::string_view name : option_names(options)) {
        if (point != "/" && std::ranges::find(not_required, name) != not_required.end()) {
            return fmt::format("with \"{}\" devices would start without it", name);
        }
    }
    return "devices would not start";
}

std::string sentence(const MountFile& file, std::size_t line, const std::string& point,
                     std::string_view how, std::string_view options = {}) {
    return fmt::format("{}{}: {} would be mounted {}, but it is ext4: {}", file.place,
                       file.is_file && line != 0 ? fmt::format(":{}", line) : "", point, how,
                       effect_of(point, options));
}

}  // namespace

std::optional<std::string> ext4_refusal(std::string_view type, std::string_view options) {
    const std::vector<std::string_view> names = option_names(options);
    const auto is = [&](std::string_view name) { return std::ranges::count(names, name) > 0; };
    if (is("bind") || is("rbind")) {
        return std::nullopt;
    }
    if (!type.empty() && type != "ext4" && type != "auto") {
        return fmt::format("as {}", type);
    }
    for (const std::string_view name : names) {
        if (!name.empty() && !name.starts_with("x-") && !name.starts_with("X-") &&
            std::ranges::find(known_options, name) == known_options.end()) {
            return fmt::format("with \"{}\"", name);
        }
    }
    return std::nullopt;
}

bool is_mount_file(std::string_view path) {
    if (path == fstab) {
        return true;
    }
    const std::size_t directory = path.rfind('/');
    const std::string_view parent = path.substr(0, directory);
    return (path.starts_with("/etc/systemd/system/") ||
            path.starts_with("/usr/lib/systemd/system/")) &&
           (path.ends_with(".mount") || path.ends_with(".automount") ||
            ((parent.ends_with(".mount.d") || parent.ends_with(".automount.d")) &&
             path.ends_with(".conf")));
}

std::string mount_unit_of(std::string_view point) {
    if (point == "/") {
        return "-.mount";
    }
    std::string name;
    for (const char c : point.substr(1)) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == ':' || c == '_' ||
                           (c == '.' && !name.empty());
        name += c == '/' ? "-"
                : plain  ? std::string(1, c)
                         : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
    return name + ".mount";
}

std::vector<std::string> mount_points_of(const std::vector<Volume>& volumes) {
    std::vector<std::string> points;
    for (const Volume& volume : volumes) {
        for (const VolumeMount& mount : volume.mounts) {
            points.push_back(mount.point);
        }
    }
    return points;
}

std::vector<std::string> refused_mounts(const std::vector<std::string>& points,
                                        const MountFiles& files) {
    std::vector<std::string> refused;
    const auto see_unit = [&](const std::string& point, const MountFile& file) {
        const auto setting = [&](std::string_view key) {
            return last_setting(file.text, "Mount", key).value_or("");
        };
        if (const auto how = ext4_refusal(setting("Type"), setting("Options"))) {
            refused.push_back(sentence(file, 0, point, *how));
        }
    };
    const auto see_table = [&](const std::string& point, const MountFile& file) {
        std::size_t number = 0;
        for (const std::string_view line : lines_of(file.text)) {
            ++number;
            const std::vector<std::string_view> words = words_of(line);
            if (words.size() < 3 || words[0].starts_with('#') ||
                deployed_path(std::string(words[1])) != point) {
                continue;
            }
            const std::string_view options = words.size() > 3 ? words[3] : "";
            if (const auto how = ext4_refusal(words[2], options)) {
                refused.push_back(sentence(file, number, point, *how, options));
            }
        }
    };
    for (const std::string& point : points) {
        for (const auto& [path, file] : files) {
            if (path == fstab) {
                see_table(point, file);
            } else if (is_unit_for(point, path, file)) {
                see_unit(point, file);
            }
        }
    }
    return refused;
}

std::vector<MisplacedMount> misplaced_mounts(
    const std::optional<std::vector<std::string>>& directories, const MountFiles& files) {
    std::vector<MisplacedMount> misplaced;
    for (const auto& [path, file] : files) {
        const bool automount = path.find(".automount") != std::string::npos;
        const std::optional<std::string> where =
            last_setting(file.text, automount ? "Automount" : "Mount", "Where");
        if (path == fstab || !where || !where->starts_with('/') || *where == "/" ||
            where->find('%') != std::string::npos) {
            continue;
        }
        const std::string kind = automount ? ".automount" : ".mount";
        const std::string deployed = deployed_path(*where);
        if (deployed != *where) {
            std::string name = mount_unit_of(deployed);
            name.replace(name.rfind('.'), std::string::npos, kind);
            misplaced.push_back(
                {fmt::format("{}: Where={} goes through a link of the device, where systemd mounts "
                             "nothing",
                             file.place, *where),
                 fmt::format("mount at {}, in a unit called {}", deployed, name)});
            continue;
        }
        const std::string top = where->substr(0, where->find('/', 1));
        const auto is_top = [&](std::string_view directory) { return is_below(directory, top); };
        if (directories && std::ranges::none_of(top_level_directories, is_top) &&
            std::ranges::none_of(*directories, is_top)) {
            misplaced.push_back(
                {fmt::format("{}: nobody can make {} for Where={}: devices have no such directory, "
                             "and / is read-only",
                             file.place, top, *where),
                 "mount below /var; only volumes of [customizations.disk] and "
                 "[[customizations.filesystem]] get a directory in /"});
        }
    }
    return misplaced;
}

}  // namespace edgegpu
