"""Links planted by packages into every place where edgegpu itself reads, writes, removes or collects."""
from harness import Attack, refused

FOLDER = "@CANARIES@/folder"


def payload_file(path, text="x\n", attribute=""):
    """A package that owns one file."""
    def make(root, canaries):
        file = root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return [f"{attribute} {path}".strip()]
    return make


def payload_link(path, to):
    def make(root, canaries):
        link = root / path.lstrip("/")
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(to.replace("@CANARIES@", str(canaries.place)))
        return [path]
    return make


def planted(name, path, to, kind="post", **more):
    """A scriptlet puts a link at `path` in place of what is there."""
    return Attack(f"hostile-link-{name}", {kind: f"mkdir -p {path.rsplit('/', 1)[0]}/\nrm -rf {path}\nln -s {to} {path}\n:"},
                  **{"error": f"hostile-link-{name}|{path}", **more})


OWNED = "%attr(4755,app,app)"


def owner_attack(name, script, path="/usr/share/owned/app", **more):
    """A package whose file gets an owner by name after %pre: a link that %pre planted must not lead it out."""
    return Attack(f"hostile-owner-{name}", {"pre": script}, payload_file(path, attribute=OWNED),
                  error=f"hostile-owner-{name}|{path}", **more)


UP = "../../../../../../../../../../../.."
ATTACKS = [
    # chown, chmod and capabilities after %pre
    owner_attack("directory", f"rm -rf /usr/share/owned\nln -s {FOLDER} /usr/share/owned"),
    owner_attack("relative", f"rm -rf /usr/share/owned\nln -s {UP}{FOLDER} /usr/share/owned"),
    owner_attack("middle", f"rm -rf /usr/share/owned\nln -s {FOLDER} /usr/share/owned", "/usr/share/owned/etc/passwd"),
    owner_attack("file", f"rm -f /usr/share/owned/app\nln -s {FOLDER}/app /usr/share/owned/app"),
    owner_attack("twice", f"rm -rf /usr/share/owned\nln -s /usr/share/other /usr/share/owned\nln -s {FOLDER} /usr/share/other"),
    owner_attack("proc", "rm -rf /usr/share/owned\nln -s /proc/self/cwd /usr/share/owned"),
    # the account files
    planted("passwd", "/etc/passwd", "@CANARIES@/key"),
    planted("passwd-pre", "/etc/passwd", "@CANARIES@/world", "pre", beside=("hostile-owner-plain",)),
    planted("group", "/etc/group", "@CANARIES@/world", "pre", beside=("hostile-owner-plain",)),
    Attack("hostile-owner-plain", {}, payload_file("/usr/share/plain/app", attribute=OWNED), status="clean"),
    Attack("hostile-link-whole-etc", {"post": f"cp -a /etc /usr/share/old-etc\nrm -rf /etc\nln -s {FOLDER}/etc /etc"},
           error="hostile-link-whole-etc|/etc"),
    Attack("hostile-link-whole-etc-pre", {"pre": f"rm -rf /etc\nln -s {FOLDER}/etc /etc"}, beside=("hostile-owner-plain",),
           error="hostile-link-whole-etc-pre|hostile-owner-plain|/etc"),
    # the policy's files
    Attack("hostile-link-semanage", {"post": "mkdir -p /etc/selinux\necho SELINUXTYPE=targeted >/etc/selinux/config\n"
                                             "ln -s @CANARIES@/key /etc/selinux/semanage.conf"},
           error="hostile-link-semanage|/etc/selinux"),
    Attack("hostile-link-selinux-type", {"post": f"mkdir -p /etc/selinux\necho SELINUXTYPE=targeted >/etc/selinux/config\n"
                                                 f"ln -s {FOLDER}/targeted /etc/selinux/targeted"},
           error="hostile-link-selinux-type|/etc/selinux"),
    planted("selinux", "/etc/selinux", f"{FOLDER}"),
    planted("selinux-store", "/var/lib/selinux", f"{FOLDER}/targeted"),
    planted("selinux-config", "/etc/selinux/config", "@CANARIES@/key"),
    # the kernel's directory, in which depmod's index, the kernel and the initramfs are put
    planted("modules", f"/usr/lib/modules/@KERNEL@", f"{FOLDER}/1-1.x86_64"),
    planted("modules-all", "/usr/lib/modules", FOLDER),
    planted("vmlinuz", "/usr/lib/modules/@KERNEL@/vmlinuz", f"{FOLDER}/vmlinuz"),
    planted("modules-dep", "/usr/lib/modules/@KERNEL@/modules.dep", f"{FOLDER}/modules.dep"),
    planted("initramfs", "/usr/lib/modules/@KERNEL@/initramfs.img", f"{FOLDER}/file"),
    planted("boot", "/boot", FOLDER),
    # the package database
    planted("rpmdb", "/usr/share/rpm", f"{FOLDER}/rpm", "pre"),
    planted("rpmdb-post", "/usr/share/rpm", f"{FOLDER}/rpm"),
    planted("rpmdb-file", "/usr/share/rpm/rpmdb.sqlite", f"{FOLDER}/rpmdb.sqlite"),
    planted("sysimage", "/usr/lib/sysimage", FOLDER),
    planted("var-lib", "/var/lib", FOLDER),
    Attack("hostile-link-usr-share", {"posttrans": f"mv /usr/share /usr/lib/share\nln -s {FOLDER} /usr/share"},
           error="hostile-link-usr-share|/usr/share"),
    # what is removed: aux-cache of ldconfig, leftovers, mount points
    Attack("hostile-link-aux-cache", {"post": f"mkdir -p /var/cache\nrm -rf /var/cache/ldconfig\n"
                                              f"ln -s {FOLDER} /var/cache/ldconfig\nldconfig"},
           payload_file("/usr/sbin/ldconfig", "#!/bin/sh\n:\n", "%attr(755,root,root)"),
           error="hostile-link-aux-cache|/var/cache"),
    planted("var-cache", "/var/cache", FOLDER),
    planted("factory", "/usr/share/factory", FOLDER),
    planted("tmpfiles", "/usr/lib/tmpfiles.d", FOLDER),
    planted("tmpfiles-file", "/usr/lib/tmpfiles.d/x.conf", f"{FOLDER}/tmpfiles.conf"),
    planted("modprobe", "/etc/modprobe.d", FOLDER),
    planted("usr-lib-edgegpu", "/usr/lib/edgegpu", FOLDER),
    planted("systemd", "/etc/systemd", FOLDER),
    # mount points of the sandbox
    Attack("hostile-mount-points", {"post": "cd /\nfor place in tmp run dev proc sys; do\n"
                                            f"    rm -rf /$place 2>/dev/null; mv /$place /$place.old 2>/dev/null\n"
                                            f"    ln -s {FOLDER} /$place 2>/dev/null\ndone\n:"},
           error="hostile-mount-points|/"),
    Attack("hostile-link-var-tmp", {"post": f"mv /var /var.old 2>/dev/null\nln -s {FOLDER} /var 2>/dev/null\n:"},
           error="hostile-link-var-tmp|/var"),
    Attack("hostile-payload-tmp", {}, payload_link("/tmp/planted", f"{FOLDER}")),
    Attack("hostile-uname", {"pre": f"rm -f /usr/bin/uname\nln -s {FOLDER}/uname /usr/bin/uname"}),
    Attack("hostile-uname-directory", {"pre": "rm -f /usr/bin/uname\nmkdir /usr/bin/uname"},
           error="hostile-uname-directory|uname"),
    Attack("hostile-shim-link", {"pre": f"rm -f /usr/sbin/depmod\nln -s {FOLDER}/app /usr/sbin/depmod"},
           error="hostile-shim-link|depmod"),
    # links that are files of the package
    Attack("hostile-payload-modules", {}, payload_link("/usr/lib/modules/2-2.x86_64", f"{FOLDER}/1-1.x86_64")),
    Attack("hostile-payload-selinux", {}, payload_link("/etc/selinux", FOLDER)),
    Attack("hostile-payload-factory", {}, payload_link("/usr/share/factory", FOLDER)),
    Attack("hostile-payload-relative", {}, payload_link("/usr/lib/tmpfiles.d/planted.conf", f"{UP}{FOLDER}/tmpfiles.conf")),
    Attack("hostile-payload-rpm", {}, payload_link("/usr/share/rpm", f"{FOLDER}/rpm")),
    Attack("hostile-payload-proc", {}, payload_link("/usr/share/owned-proc", "/proc/self/root")),
    Attack("hostile-payload-loop", {"post": "ln -s b /usr/lib/a\nln -s a /usr/lib/b\nrm -rf /etc/selinux\n"
                                            "ln -s /usr/lib/a /etc/selinux"}, error="hostile-payload-loop|/"),
]
# What the next stage needs is not there, or leads out of the image.
refused(ATTACKS, "link-semanage", "link-selinux-type", "link-modules", "link-modules-all", "link-vmlinuz", "link-sysimage",
        "payload-loop")
# rm and mv fail at what something is mounted on, and the scriptlet with them; or the next one cannot be started.
refused(ATTACKS, "mount-points", "link-var-tmp", "uname", "uname-directory", "shim-link")
