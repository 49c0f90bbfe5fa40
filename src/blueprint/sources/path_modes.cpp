#include "blueprint/sources/path_modes.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "support/path_glob.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view connections = "NetworkManager ignores connections that others can read";
constexpr std::string_view dispatchers =
    "NetworkManager runs only scripts that are executable and that nobody but root can change";
constexpr std::string_view sudoers = "sudo ignores rules that others can change";
constexpr std::string_view tables = "cron ignores tables that others can change or execute";
constexpr std::string_view periodic = "run-parts passes over what is not executable";
constexpr std::string_view host_keys = "sshd ignores host keys that others can read";
constexpr std::string_view login_keys =
    "sshd reads these keys as the user who logs in, and ignores those that others can change";
constexpr std::string_view sssd = "SSSD does not start with a configuration that others can read";
constexpr std::string_view usbguard = "USBGuard does not start with rules that others can read";
constexpr std::string_view private_keys = "private keys are for their owner alone";
constexpr std::string_view passwords = "passwords in it are for their owner alone";
constexpr std::string_view ssh_files = "ssh and sshd ignore files that others can change";
constexpr std::string_view ssh_keys = "ssh ignores private keys that others can read";
constexpr std::string_view rotation = "logrotate ignores what others can change or execute";
constexpr std::string_view audit = "the audit daemon refuses what others can change";
constexpr std::string_view polkit = "polkitd reads its rules as a user of its own";
constexpr std::string_view hashes = "hashes of passwords are for their owner alone";
constexpr std::string_view programs = "programs are executable";
constexpr std::string_view licences = "nvidia-gridd reads it as NVIDIA's guide has it installed";

/// The first row that fits counts. Sources: NetworkManager, nms-keyfile-utils.c
/// (nms_keyfile_utils_check_file_permissions_stat) and nm-dispatcher.c (check_permissions); sudo,
/// lib/util/secure_path.c (sudo_check_secure), and sudoers(5) for the mode; cronie, src/database.c
/// (process_crontab), and run-parts of crontabs; OpenSSH, authfile.c (sshkey_perm_ok; the group
/// ssh_keys is Enterprise Linux's) and misc.c (safe_path); SSSD, src/util/sss_ini.c; USBGuard,
/// src/Daemon/Daemon.cpp (checkFilePermissions); rsyncd.conf(5), "strict modes"; logrotate,
/// config.c (readConfigFile; that of Enterprise Linux 8 refuses executables); audit,
/// auditd-config.c (load_config); libpq, fe-connect.c (passwordFromFile); OpenVPN, options.c
/// (check_file_access, a warning); chrony.conf(5), "keyfile", of which the package's has the group
/// chrony; polkit(8), whose daemon is not root; ftp(1) for .netrc, wg-quick(8), pppd(8),
/// ipsec.secrets(5), wpa_supplicant.conf(5), crypttab(5), krb5.conf(5), shadow(5); NVIDIA's vGPU
/// licensing guide for the client's token;
/// systemd.generator(7), systemd-suspend.service(8), dracut.modules(7), kernel-install(8): they
/// start what is executable.
constexpr std::array rows{
    PathMode{"/etc/NetworkManager/system-connections/*", 0600, 0077, 0400, true, connections},
    PathMode{"/usr/lib/NetworkManager/system-connections/*", 0600, 0077, 0400, true, connections},
    PathMode{"/etc/NetworkManager/dispatcher.d/**", 0755, 04022, 0100, true, dispatchers},
    PathMode{"/usr/lib/NetworkManager/dispatcher.d/**", 0755, 04022, 0100, true, dispatchers},
    PathMode{"/etc/sudoers", 0440, 0022, 0400, true, sudoers},
    PathMode{"/etc/sudoers.d/*", 0440, 0022, 0400, true, sudoers},
    PathMode{"/etc/crontab", 0644, 07133, 0400, true, tables},
    PathMode{"/etc/cron.d/*", 0644, 07133, 0400, true, tables},
    PathMode{"/var/spool/cron/**", 0600, 07133, 0400, false, tables},
    PathMode{"/etc/cron.hourly/*", 0755, 0022, 0100, false, periodic},
    PathMode{"/etc/cron.daily/*", 0755, 0022, 0100, false, periodic},
    PathMode{"/etc/cron.weekly/*", 0755, 0022, 0100, false, periodic},
    PathMode{"/etc/cron.monthly/*", 0755, 0022, 0100, false, periodic},
    PathMode{"/var/lib/cloud/scripts/per-*/*", 0755, 0000, 0100, false, programs},
    PathMode{"/etc/logrotate.conf", 0644, 07133, 0400, true, rotation},
    PathMode{"/etc/logrotate.d/*", 0644, 07133, 0400, true, rotation},
    PathMode{"/etc/audit/rules.d/*.rules", 0600, 0002, 0400, true, audit},
    PathMode{"/etc/audit/*", 0640, 0002, 0400, true, audit},
    PathMode{"/etc/polkit-1/rules.d/*", 0644, 0022, 0004, false, polkit},
    PathMode{"/etc/ssh/ssh_host_*_key", 0600, 0037, 0400, false, host_keys},
    PathMode{"/etc/ssh/authorized_keys/**", 0644, 0022, 0004, false, login_keys},
    PathMode{"/etc/ssh/authorized_keys.d/**", 0644, 0022, 0004, false, login_keys},
    PathMode{"/**/.ssh/*.pub", 0644, 0022, 0400, false, ssh_files},
    PathMode{"/**/.ssh/authorized_keys*", 0600, 0022, 0400, false, ssh_files},
    PathMode{"/**/.ssh/known_hosts*", 0600, 0022, 0400, false, ssh_files},
    PathMode{"/**/.ssh/config", 0600, 0022, 0400, false, ssh_files},
    PathMode{"/**/.ssh/*", 0600, 0077, 0400, false, ssh_keys},
    PathMode{"/**/.netrc", 0600, 0077, 0400, false, passwords},
    PathMode{"/**/.pgpass", 0600, 0077, 0400, false, passwords},
    PathMode{"/etc/sssd/sssd.conf", 0600, 0077, 0400, true, sssd},
    PathMode{"/etc/sssd/conf.d/*", 0600, 0077, 0400, true, sssd},
    PathMode{"/etc/usbguard/*.conf", 0600, 0177, 0400, false, usbguard},
    PathMode{"/etc/usbguard/rules.d/*", 0600, 0177, 0400, false, usbguard},
    PathMode{"/etc/usbguard/IPCAccessControl.d/*", 0600, 0177, 0400, false, usbguard},
    PathMode{"/etc/pki/**/private/**", 0600, 0007, 0400, false, private_keys},
    PathMode{"/etc/ssl/private/**", 0600, 0007, 0400, false, private_keys},
    PathMode{"/etc/wireguard/**", 0600, 0007, 0400, false, private_keys, true},
    PathMode{"/etc/openvpn/**", 0600, 0007, 0400, false, private_keys, true},
    PathMode{"/etc/**swanctl/private/**", 0600, 0007, 0400, false, private_keys},
    PathMode{"/etc/**swanctl/rsa/**", 0600, 0007, 0400, false, private_keys},
    PathMode{"/etc/**swanctl/ecdsa/**", 0600, 0007, 0400, false, private_keys},
    PathMode{"/etc/**swanctl/pkcs8/**", 0600, 0007, 0400, false, private_keys},
    PathMode{"/etc/**swanctl/pkcs12/**", 0600, 0007, 0400, false, private_keys},
    PathMode{"/etc/**ipsec.d/private/**", 0600, 0007, 0400, false, private_keys},
    PathMode{"/etc/cryptsetup-keys.d/**", 0600, 0077, 0400, false, private_keys},
    PathMode{"/etc/**.keytab", 0600, 0007, 0400, false, private_keys},
    PathMode{"/etc/**ipsec.secrets", 0600, 0007, 0400, false, passwords},
    PathMode{"/etc/**ipsec.d/*.secrets", 0600, 0007, 0400, false, passwords},
    PathMode{"/etc/ppp/*-secrets", 0600, 0077, 0400, false, passwords},
    PathMode{"/etc/rsyncd.secrets", 0600, 0007, 0400, false, passwords},
    PathMode{"/etc/postfix/sasl_passwd*", 0600, 0007, 0400, false, passwords},
    PathMode{"/etc/iscsi/iscsid.conf", 0600, 0007, 0400, false, passwords},
    PathMode{"/etc/chrony.keys", 0640, 0007, 0400, false, passwords},
    PathMode{"/etc/rndc.key", 0640, 0007, 0400, false, passwords},
    PathMode{"/etc/wpa_supplicant/*.conf", 0600, 0007, 0400, false, passwords},
    PathMode{"/etc/libvirt/secrets/**", 0600, 0077, 0400, false, passwords},
    PathMode{"/etc/crio/openshift-pull-secret", 0600, 0077, 0400, false, passwords},
    PathMode{"/etc/containers/auth.json", 0600, 0007, 0400, false, passwords},
    PathMode{"/etc/ostree/auth.json", 0600, 0007, 0400, false, passwords},
    PathMode{"/etc/nvidia/ClientConfigToken/*.tok", 0744, 0022, 0400, false, licences},
    PathMode{"/etc/shadow*", 0000, 0007, 0000, false, hashes},
    PathMode{"/etc/gshadow*", 0000, 0007, 0000, false, hashes},
    PathMode{"/etc/security/opasswd", 0600, 0077, 0400, false, hashes},
    PathMode{"/usr/bin/*", 0755, 0000, 0111, false, programs},
    PathMode{"/usr/sbin/*", 0755, 0000, 0111, false, programs},
    PathMode{"/etc/rc.d/rc.local", 0755, 0000, 0100, false, programs},
    PathMode{"/etc/systemd/*-generators/*", 0755, 0000, 0111, false, programs},
    PathMode{"/usr/lib/systemd/*-generators/*", 0755, 0000, 0111, false, programs},
    PathMode{"/usr/lib/systemd/system-sleep/*", 0755, 0000, 0111, false, programs},
    PathMode{"/usr/lib/systemd/system-shutdown/*", 0755, 0000, 0111, false, programs},
    PathMode{"/usr/lib/dracut/modules.d/*/module-setup.sh", 0755, 0000, 0111, false, programs},
    PathMode{"/etc/kernel/install.d/*.install", 0755, 0000, 0111, false, programs},
    PathMode{"/etc/libvirt/hooks/**", 0755, 0000, 0100, false, programs},
    PathMode{"/usr/lib/kernel/install.d/*.install", 0755, 0000, 0111, false, programs},
};

const std::vector<PathGlob>& globs() {
    static const std::vector<PathGlob> made = [] {
        std::vector<PathGlob> list;
        list.reserve(rows.size());
        for (const PathMode& row : rows) {
            list.emplace_back(std::string(row.pattern));
        }
        return list;
    }();
    return made;
}

/// By its name, whether a file beside keys and settings may be a script: "up", "up.sh".
bool may_be_script(std::string_view path) {
    const std::string_view name = path.substr(path.rfind('/') + 1);
    return name.find('.') == std::string_view::npos || name.ends_with(".sh");
}

}  // namespace

const PathMode* find_path_mode(std::string_view path) {
    const auto found =
        std::ranges::find_if(globs(), [&](const PathGlob& glob) { return glob.matches(path); });
    return found == globs().end() ? nullptr
                                  : &rows[static_cast<std::size_t>(found - globs().begin())];
}

std::string_view mode_fault(std::string_view path, unsigned mode) {
    const PathMode* const row = find_path_mode(path);
    const bool script = row != nullptr && row->scripts && (mode & 0100) != 0 && may_be_script(path);
    const bool good = row == nullptr || script ||
                      ((mode & row->refused) == 0 && (mode & row->required) == row->required);
    return good ? std::string_view() : row->reason;
}

unsigned usual_mode(std::string_view path, bool executable, bool secret) {
    const PathMode* const row = find_path_mode(path);
    const bool script = row != nullptr && row->scripts && executable && may_be_script(path);
    if (row != nullptr && !script) {
        return row->mode;
    }
    return secret ? 0600 : executable ? 0755 : 0644;
}

}  // namespace edgegpu
