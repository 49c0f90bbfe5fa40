#include "customise/initramfs/boot_tools.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "customise/initramfs/initramfs_accounts.hpp"
#include "customise/initramfs/mentioned_names.hpp"
#include "customise/kernel/depmod.hpp"

namespace edgegpu {

namespace {

/// Prefixes of single files that dracut's modules read or list: "/etc/dracut.conf" includes
/// "/etc/dracut.conf.d/…".
constexpr std::array<std::string_view, 30> read_files{"/etc/adjtime",
                                                      "/etc/cmdline",
                                                      "/etc/crypttab",
                                                      "/etc/depmod.d/",
                                                      "/etc/dracut.conf",
                                                      "/etc/fstab",
                                                      "/etc/iscsi",
                                                      "/etc/ld.so.conf",
                                                      "/etc/locale.conf",
                                                      "/etc/lvm",
                                                      "/etc/mdadm",
                                                      "/etc/modprobe.d",
                                                      "/etc/modules-load.d",
                                                      "/etc/multipath",
                                                      "/etc/nvme",
                                                      "/etc/sysctl.",
                                                      "/etc/udev",
                                                      "/etc/vconsole.conf",
                                                      "/usr/lib/depmod.d/",
                                                      "/usr/lib/dracut",
                                                      "/usr/lib/firmware",
                                                      "/usr/lib/kbd/",
                                                      "/usr/lib/modprobe.d",
                                                      "/usr/lib/modules-load.d",
                                                      "/usr/lib/ostree",
                                                      "/usr/lib/udev/",
                                                      "/usr/share/consolefonts/",
                                                      "/usr/share/consoletrans/",
                                                      "/usr/share/keymaps/",
                                                      "/usr/share/unimaps/"};

/// Directories of programs, without those below them.
constexpr std::array<std::string_view, 4> program_directories{"/usr/bin/", "/usr/sbin/",
                                                              "/usr/libexec/", "/usr/lib/systemd/"};

/// Where other files lie that dracut's modules look for by name, in directories that are named by
/// variables (dracut-init.sh, "systemdutilconfdir=/etc/systemd"). Of the rest of /etc and
/// /usr/share, whole paths are mentioned.
constexpr std::array<std::string_view, 9> searched{
    "/etc/binfmt.d/",   "/etc/dbus-1/", "/etc/environment.d/", "/etc/sysusers.d/",  "/etc/systemd/",
    "/etc/tmpfiles.d/", "/usr/lib/",    "/usr/lib64/",         "/usr/share/dbus-1/"};

/// Where a build declares the users of the blueprint: an initramfs has nobody but the system's.
constexpr std::array<std::string_view, 4> people{"/etc/subgid", "/etc/subuid",
                                                 "/usr/lib/edgegpu/accounts/",
                                                 "/usr/lib/tmpfiles.d/edgegpu-users.conf"};

template <std::size_t Count>
bool begins_with_any(std::string_view path, const std::array<std::string_view, Count>& prefixes) {
    return std::ranges::any_of(prefixes,
                               [&](std::string_view prefix) { return path.starts_with(prefix); });
}

/// Programs that depmod and dracut are or run; dracut's package requires the others.
bool is_run(std::string_view path) {
    constexpr std::array<std::string_view, 5> programs{"dracut", "depmod", "ldconfig", "gzip",
                                                       "zstd"};
    const std::size_t name = path.rfind('/') + 1;
    return (path.substr(0, name) == "/usr/bin/" || path.substr(0, name) == "/usr/sbin/") &&
           std::ranges::find(programs, path.substr(name)) != programs.end();
}

}  // namespace

ToolNeeds boot_tools(const Context& ctx, const Tree& tree) {
    const auto names = std::make_shared<const MentionedNames>(names_of_dracut(tree));
    const std::string modules = "/usr/lib/modules/" + tree.kernel + '/';
    ToolNeeds needs;
    needs.name = "boot-tools";
    needs.runs = is_run;
    needs.uses = [names](std::string_view path) {
        const std::string_view directory = path.substr(0, path.rfind('/') + 1);
        return std::ranges::find(program_directories, directory) != program_directories.end() &&
               names->contains(path);
    };
    needs.reads = [names, modules](std::string_view path) {
        if (path.starts_with("/usr/lib/modules/")) {
            return path.starts_with(modules);
        }
        return begins_with_any(path, read_files) || names->has_path(path) ||
               (begins_with_any(path, searched) && names->contains(path));
    };
    needs.hidden = [modules](std::string_view path) {
        return path == "/etc/ld.so.cache" || path.ends_with("/initramfs.img") ||
               begins_with_any(path, people) ||
               (path.starts_with(modules) && is_module_index(path.substr(modules.size())));
    };
    for (const std::string_view path : account_files) {
        if (find_entry(tree, path) != nullptr) {
            needs.instead.emplace(path, make_file_entry(ctx, system_accounts(tree, path), 0644));
        }
    }
    return needs;
}

}  // namespace edgegpu
