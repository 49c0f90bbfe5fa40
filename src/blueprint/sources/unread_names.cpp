#include "blueprint/sources/unread_names.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "support/path_glob.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// A directory whose reader goes by the names of its files.
struct NamedDirectory {
    /// pattern of paths in it
    std::string_view pattern;
    std::string_view reader;
    /// Endings of which a name must have one, separated by spaces; the first is proposed. Empty:
    /// those below alone count.
    std::string_view endings = {};
    /// Endings that a name must not have.
    std::string_view refused = {};
    /// Whether a name with a dot anywhere is passed over.
    bool no_dots = false;
};

constexpr std::string_view sysctl = "systemd-sysctl";
constexpr std::string_view modprobe = "modprobe";
constexpr std::string_view manager = "NetworkManager";
constexpr std::string_view networkd = "systemd-networkd or udev";
constexpr std::string_view links = ".network .netdev .link";
constexpr std::string_view units =
    ".service .socket .target .timer .mount .automount .path .slice .swap .device .scope";
constexpr std::string_view backups = "~ .rpmsave .rpmorig .rpmnew";

/// sysctl.d(5), modprobe.d(5) and kmod's conf_files_filter_out, modules-load.d(5), tmpfiles.d(5),
/// sysusers.d(5), binfmt.d(5), udev(7), hwdb(7), systemd.network(5), systemd.unit(5),
/// systemd-system.conf(5), dracut.conf(5), NetworkManager.conf(5), NetworkManager's
/// nm-keyfile-utils.c (nm_keyfile_utils_ignore_filename; an ending is only required below /usr),
/// containers-registries.conf.d(5), containers.conf(5), containers-registries.d(5), sudoers(5),
/// cronie's database.c (not_a_crontab; names with dots are read), its run-parts, logrotate.conf(5)
/// (tabooext), polkit(8), bash's /etc/profile of setup, sshd_config and ssh_config of openssh,
/// ld.so.conf of glibc, augenrules(8), rsyslog.conf of rsyslog, dnf.conf(5), sssd.conf(5), pam's
/// limits.conf(5), firewalld.zone(5), journald.conf(5), ostree's ostree-repo.c (remotes.d),
/// bootc-kargs, cloud-init's read_cfg_paths, MicroShift's documentation of config.d.
constexpr auto named_directories = std::to_array<NamedDirectory>({
    {"/etc/sysctl.d/*", sysctl, ".conf"},
    {"/usr/lib/sysctl.d/*", sysctl, ".conf"},
    {"/etc/modprobe.d/*", modprobe, ".conf .alias"},
    {"/usr/lib/modprobe.d/*", modprobe, ".conf .alias"},
    {"/etc/depmod.d/*", "depmod", ".conf"},
    {"/usr/lib/depmod.d/*", "depmod", ".conf"},
    {"/etc/modules-load.d/*", "systemd-modules-load", ".conf"},
    {"/usr/lib/modules-load.d/*", "systemd-modules-load", ".conf"},
    {"/etc/tmpfiles.d/*", "systemd-tmpfiles", ".conf"},
    {"/usr/lib/tmpfiles.d/*", "systemd-tmpfiles", ".conf"},
    {"/etc/sysusers.d/*", "systemd-sysusers", ".conf"},
    {"/usr/lib/sysusers.d/*", "systemd-sysusers", ".conf"},
    {"/etc/binfmt.d/*", "systemd-binfmt", ".conf"},
    {"/usr/lib/binfmt.d/*", "systemd-binfmt", ".conf"},
    {"/etc/udev/rules.d/*", "udev", ".rules"},
    {"/usr/lib/udev/rules.d/*", "udev", ".rules"},
    {"/etc/udev/hwdb.d/*", "udev", ".hwdb"},
    {"/usr/lib/udev/hwdb.d/*", "udev", ".hwdb"},
    {"/etc/systemd/network/*", networkd, links},
    {"/usr/lib/systemd/network/*", networkd, links},
    {"/etc/systemd/system/*.d/*", "systemd", ".conf"},
    {"/usr/lib/systemd/system/*.d/*", "systemd", ".conf"},
    {"/etc/systemd/user/*.d/*", "systemd", ".conf"},
    {"/usr/lib/systemd/user/*.d/*", "systemd", ".conf"},
    {"/etc/systemd/system/*", "systemd", units},
    {"/usr/lib/systemd/system/*", "systemd", units},
    {"/etc/systemd/*.conf.d/*", "systemd", ".conf"},
    {"/usr/lib/systemd/*.conf.d/*", "systemd", ".conf"},
    {"/etc/systemd/system-preset/*", "systemd", ".preset"},
    {"/usr/lib/systemd/system-preset/*", "systemd", ".preset"},
    {"/etc/dracut.conf.d/*", "dracut", ".conf"},
    {"/usr/lib/dracut/dracut.conf.d/*", "dracut", ".conf"},
    {"/etc/NetworkManager/conf.d/*", manager, ".conf"},
    {"/usr/lib/NetworkManager/conf.d/*", manager, ".conf"},
    {"/etc/NetworkManager/system-connections/*", manager, "", backups},
    {"/usr/lib/NetworkManager/system-connections/*", manager, ".nmconnection"},
    {"/etc/containers/registries.conf.d/*", "podman and CRI-O", ".conf"},
    {"/etc/containers/containers.conf.d/*", "podman", ".conf"},
    {"/etc/containers/registries.d/*", "podman and CRI-O", ".yaml"},
    {"/etc/sudoers.d/*", "sudo", "", "~", true},
    {"/etc/ssh/sshd_config.d/*", "sshd", ".conf"},
    {"/etc/ssh/ssh_config.d/*", "ssh", ".conf"},
    {"/etc/profile.d/*", "the shell", ".sh .csh sh.local"},
    {"/etc/polkit-1/rules.d/*", "polkitd", ".rules"},
    {"/usr/share/polkit-1/rules.d/*", "polkitd", ".rules"},
    {"/etc/cron.d/*", "cron", "", backups},
    {"/etc/cron.hourly/*", "run-parts", "", "~ .rpmsave .rpmorig .rpmnew .swp ,v .cfsaved"},
    {"/etc/cron.daily/*", "run-parts", "", "~ .rpmsave .rpmorig .rpmnew .swp ,v .cfsaved"},
    {"/etc/logrotate.d/*", "logrotate", "",
     "~ .rpmsave .rpmorig .rpmnew .swp ,v .cfsaved .bak .disabled"},
    {"/etc/ld.so.conf.d/*", "ldconfig", ".conf"},
    {"/etc/audit/rules.d/*", "augenrules", ".rules"},
    {"/etc/rsyslog.d/*", "rsyslogd", ".conf"},
    {"/etc/yum.repos.d/*", "dnf", ".repo"},
    {"/etc/sssd/conf.d/*", "SSSD", ".conf"},
    {"/etc/security/limits.d/*", "pam_limits", ".conf"},
    {"/etc/firewalld/zones/*", "firewalld", ".xml"},
    {"/etc/firewalld/services/*", "firewalld", ".xml"},
    {"/etc/ostree/remotes.d/*", "ostree", ".conf"},
    {"/usr/lib/bootc/kargs.d/*", "bootc", ".toml"},
    {"/etc/cloud/cloud.cfg.d/*", "cloud-init", ".cfg"},
    {"/etc/microshift/config.d/*", "MicroShift", ".yaml"},
});

/// With the pattern compiled: an overlay may have a million files.
struct CompiledDirectory {
    PathGlob pattern;
    const NamedDirectory* row = nullptr;
};

const std::vector<CompiledDirectory>& compiled_directories() {
    static const std::vector<CompiledDirectory> made = [] {
        std::vector<CompiledDirectory> list;
        list.reserve(named_directories.size());
        for (const NamedDirectory& row : named_directories) {
            list.push_back({PathGlob(row.pattern), &row});
        }
        return list;
    }();
    return made;
}

/// The first of the endings that the name has, or empty.
std::string_view ending_of(std::string_view name, std::string_view endings) {
    for (const std::string_view ending : words_of(endings)) {
        if (name.ends_with(ending)) {
            return ending;
        }
    }
    return {};
}

}  // namespace

std::optional<std::string> unread_name(std::string_view path) {
    const std::size_t slash = path.rfind('/') + 1;
    const std::string_view name = path.substr(slash);
    if (name.starts_with("README") || name.starts_with(".git")) {
        return std::nullopt;
    }
    const auto& directories = compiled_directories();
    const auto found = std::ranges::find_if(directories, [&](const CompiledDirectory& directory) {
        return directory.pattern.matches(path);
    });
    if (found == directories.end()) {
        return std::nullopt;
    }
    const NamedDirectory& row = *found->row;
    if (row.no_dots && name.find('.') != std::string_view::npos) {
        std::string other(name);
        std::ranges::replace(other, '.', '-');
        return fmt::format("{} reads no names with a dot: {}{}", row.reader, path.substr(0, slash),
                           other);
    }
    if (const std::string_view ending = ending_of(name, row.refused); !ending.empty()) {
        return fmt::format("{} reads no names that end with {}: {}", row.reader, ending,
                           path.substr(0, path.size() - ending.size()));
    }
    if (row.endings.empty() || !ending_of(name, row.endings).empty()) {
        return std::nullopt;
    }
    const std::string_view first = words_of(row.endings).front();
    return fmt::format("{} reads only names that end with {}: {}{}", row.reader,
                       row.endings.find(' ') == std::string_view::npos
                           ? std::string(first)
                           : fmt::format("one of {}", row.endings),
                       path, first);
}

}  // namespace edgegpu
