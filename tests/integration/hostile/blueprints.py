"""Links planted where the blueprint's own settings are written into the image."""
from harness import Attack, refused
from paths import FOLDER

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOLnNw5NA5MJilctpDqs5ON27MVyUp2mYVcMjMFgiAlq x"


def setting(name, path, to, blueprint, **more):
    return Attack(f"hostile-setting-{name}", {"posttrans": f"rm -rf {path}\nmkdir -p $(dirname {path})\nln -s {to} {path}"},
                  blueprint=blueprint, **{"error": f"hostile-setting-{name}|{path}|{name}|/etc|/usr", **more})


CUSTOM = "[customizations]\n"
ATTACKS = [
    setting("hostname", "/etc/hostname", f"{FOLDER}/hostname", f'{CUSTOM}hostname = "node"\n'),
    setting("file", "/etc/planted", FOLDER, '[[customizations.files]]\npath = "/etc/planted/file"\ndata = "from the blueprint"\n'),
    setting("file-deep", "/etc/planted/a", FOLDER,
            '[[customizations.files]]\npath = "/etc/planted/a/etc/new"\ndata = "from the blueprint"\n'),
    setting("file-var", "/var/lib/planted", FOLDER,
            '[[customizations.files]]\npath = "/var/lib/planted/file"\ndata = "from the blueprint"\n'),
    setting("directory", "/etc/planted", FOLDER,
            '[[customizations.directories]]\npath = "/etc/planted/rpm"\nmode = "0711"\nensure_parents = true\n'),
    setting("user", "/home", FOLDER, f'[[customizations.user]]\nname = "someone"\nkey = "{KEY}"\n'),
    setting("user-root", "/root", FOLDER, f'[[customizations.sshkey]]\nuser = "root"\nkey = "{KEY}"\n'),
    setting("user-shadow", "/etc/shadow", "@CANARIES@/key", '[[customizations.user]]\nname = "someone"\npassword = "!"\n'),
    setting("user-passwd", "/etc/passwd", "@CANARIES@/key", '[[customizations.user]]\nname = "someone"\n'),
    setting("group", "/etc/group", "@CANARIES@/key", '[[customizations.group]]\nname = "somegroup"\n'),
    setting("kernel", "/usr/lib/bootc", FOLDER, f'{CUSTOM}kernel = {{ append = "quiet" }}\n'),
    setting("kernel-list", "/usr/lib/edgegpu", FOLDER, f'{CUSTOM}kernel = {{ append = "quiet" }}\n'),
    setting("modprobe", "/etc/modprobe.d", FOLDER, '[modprobe]\nblacklist = ["nouveau"]\n'),
    setting("modprobe-usr", "/usr/lib/modprobe.d", FOLDER, '[modprobe]\nblacklist = ["nouveau"]\n'),
    setting("dracut", "/usr/lib/dracut/dracut.conf.d", FOLDER, '[modprobe]\nblacklist = ["nouveau"]\n'),
    setting("ntp", "/etc/chrony.conf", "@CANARIES@/key",
            f'{CUSTOM}timezone = {{ ntpservers = ["0.pool.ntp.org"] }}\n', error="setting-ntp|chrony"),
    setting("locale", "/etc/locale.conf", f"{FOLDER}/config", f'{CUSTOM}locale = {{ languages = ["C.UTF-8"] }}\n'),
    setting("services", "/etc/systemd/system", FOLDER, f'{CUSTOM}services = {{ masked = ["hostile.service"] }}\n',
            error="setting-services|hostile.service|systemctl|/etc"),
    setting("fips", "/etc/crypto-policies", FOLDER, f"{CUSTOM}fips = true\n", error="setting-fips|fips|crypto"),
    setting("firstboot", "/usr/libexec/edgegpu", FOLDER,
            '[[customizations.firstboot.scripts]]\nname = "join"\ncontents = "true"\n', error="setting-firstboot|firstboot|/usr"),
    setting("repositories", "/etc/yum.repos.d", FOLDER,
            '[[customizations.repositories]]\nid = "site"\nbaseurls = ["https://mirror.example.com/x"]\n'),
    setting("repository-keys", "/etc/pki", FOLDER,
            '[[customizations.repositories]]\nid = "site"\nbaseurls = ["https://mirror.example.com/x"]\n'),
    setting("containers", "/etc/containers", FOLDER, '[customizations.containers-storage]\ndestination-path = "/usr/share/store"\n'),
    setting("containers-read", "/usr/share/containers/storage.conf", "@CANARIES@/key",
            '[customizations.containers-storage]\ndestination-path = "/usr/share/store"\n'),
    setting("overlay", "/etc/planted", FOLDER, '[[overlays]]\nsource = "./overlay"\ntarget = "/etc/planted"\n'),
    setting("overlay-deep", "/etc/planted/etc", f"{FOLDER}/etc", '[[overlays]]\nsource = "./overlay"\ntarget = "/etc/planted"\n'),
    setting("overlay-owner", "/etc/group", "@CANARIES@/world",
            '[[overlays]]\nsource = "./overlay"\ntarget = "/etc/planted"\nuser = "app"\ngroup = "app"\n',
            error="setting-overlay-owner|owner|app|/etc"),
    setting("remote", "/etc/ostree", FOLDER, "", error="/etc/ostree"),
]
# The blueprint's path leads out of the image, or through a link.
refused(ATTACKS, *(f"setting-{name}" for name in (
    "file", "file-deep", "file-var", "user", "user-root", "ntp", "fips", "firstboot", "overlay", "overlay-deep",
    "overlay-owner")))
