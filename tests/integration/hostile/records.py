"""What edgegpu takes back from its scriptlets: the record of calls, replaced by something else; and files of the
image that are no files when edgegpu reads them."""
from harness import KERNEL, Attack, holds, refused
from paths import OWNED, FOLDER, payload_file

RECORD = "/run/edgegpu-record"


def replaced(name, script, **more):
    """The record of the scriptlets' calls is not what it was. An error names the record or the package."""
    return Attack(f"hostile-record-{name}", {"post": f"cd {RECORD}\n{script}\n:"},
                  **{"error": f"hostile-record-{name}|record of the scriptlets|semodule|/record", **more})


def special(name, kind, script, **more):
    """A file that edgegpu reads is a fifo, a socket, a directory, or huge."""
    return Attack(f"hostile-special-{name}", {kind: f"{script}\n:"},
                  **{"error": f"hostile-special-{name}|/etc/|/usr/|/boot|/var", "timeout": 30, **more})


def hooked(program, name, script, **more):
    """What edgegpu runs itself does it: the orders of the package's own dracut or depmod."""
    place = {"dracut": "/usr/lib/dracut", "depmod": "/usr/lib/depmod.d"}[program]
    text = f"mkdir -p {place}\ncat >{place}/hostile <<'END'\n{script}\nEND\n"
    return Attack(f"hostile-{name}", {"post": text},
                  **{"error": f"hostile-{name}|initramfs|{program}|/usr/|cpio", "timeout": 30, **more})


def same_initramfs(result):
    """The image has the initramfs that its dracut wrote before it swapped."""
    if result.status != 0:
        return None
    made = result.cat(f"/usr/lib/modules/{KERNEL}/initramfs.img")
    return None if made and made == result.cat("/usr/lib/dracut/image") else "another initramfs"


CALL = r"printf '3\0semodule\0-i\0@KEPT@\0' >>calls"
ATTACKS = [
    replaced("kept-link", f"rmdir kept\nln -s {FOLDER} kept\n" + CALL.replace("@KEPT@", "x")),
    replaced("kept-proc", "rmdir kept\nln -s /proc/self/root kept\n" + CALL.replace("@KEPT@", "x")),
    replaced("kept-file-link", "ln -s @CANARIES@/key kept/0-x\n" + CALL.replace("@KEPT@", "x")),
    replaced("kept-relative", "ln -s ../../../../../../../../../../..@CANARIES@/world kept/0-x\n" + CALL.replace("@KEPT@", "x")),
    replaced("kept-fifo", "mkfifo kept/0-x\n" + CALL.replace("@KEPT@", "x")),
    replaced("kept-folder", "mkdir -p kept/0-x/y\n" + CALL.replace("@KEPT@", "x")),
    replaced("kept-names", r"""touch "kept/$(printf '0-a\nb\033[31m')" "kept/..." 'kept/ '""" + "\n" + CALL.replace("@KEPT@", "x")),
    replaced("kept-many", "i=0\nwhile [ $i -lt 3000 ]; do : >kept/$i-x; i=$((i + 1)); done\n" + CALL.replace("@KEPT@", "x")),
    replaced("calls-link", "rm -f calls\nln -s @CANARIES@/key calls"),
    replaced("calls-fifo", "rm -f calls\nmkfifo calls", timeout=30),
    replaced("calls-folder", "rm -f calls\nmkdir calls"),
    replaced("calls-huge", "truncate -s 1099511627776 calls", timeout=60),
    replaced("calls-damaged", r"printf '99999999999999999999\0x\0' >calls", status="refused"),
    replaced("calls-count", r"printf '4000000000\0x\0' >calls", status="refused"),
    replaced("grubby-link", "rm -f grubby\nln -s @CANARIES@/key grubby"),
    replaced("grubby-fifo", "rm -f grubby\nmkfifo grubby", timeout=30),
    replaced("grubby-huge", "truncate -s 214748364800 grubby"),
    replaced("ldconfig-link", "rm -f ldconfig\nln -s @CANARIES@/folder/file ldconfig"),
    replaced("gone", f"rm -rf {RECORD}/* {RECORD}/.??*\n" + CALL.replace("@KEPT@", "x")),
    replaced("mode", f"chmod 0 {RECORD} {RECORD}/kept\nchown 12345 {RECORD}"),
    Attack("hostile-real-link", {"post": "rm -rf /usr/sbin/depmod 2>/dev/null\nrm -rf /usr/bin\n:"},
           error="hostile-real-link|/usr/bin|/bin/sh|dracut|image"),
    special("passwd-fifo", "pre", "rm -f /etc/passwd\nmkfifo /etc/passwd", beside=("hostile-owner-plain",)),
    special("group-fifo", "pre", "rm -f /etc/group\nmkfifo /etc/group", beside=("hostile-owner-plain",)),
    special("passwd-fifo-post", "posttrans", "rm -f /etc/passwd\nmkfifo /etc/passwd"),
    special("passwd-folder", "pre", "rm -f /etc/passwd\nmkdir /etc/passwd", beside=("hostile-owner-plain",)),
    special("passwd-huge", "pre", "truncate -s 1099511627776 /etc/passwd", beside=("hostile-owner-plain",)),
    special("passwd-damaged", "post", r"printf 'a:b\n::::\nx:x:99999999999:0::/:\n\0\0\n' >>/etc/passwd", error="account 'a'"),
    special("semanage-fifo", "post", "mkdir -p /etc/selinux\necho SELINUXTYPE=targeted >/etc/selinux/config\n"
            "mkfifo /etc/selinux/semanage.conf"),
    special("selinux-config-fifo", "post", "mkdir -p /etc/selinux\nmkfifo /etc/selinux/config"),
    special("kernel-fifo", "post", "rm -f /usr/lib/modules/@KERNEL@/vmlinuz\nmkfifo /usr/lib/modules/@KERNEL@/vmlinuz"),
    special("tmpfiles-fifo", "post", "mkfifo /usr/lib/tmpfiles.d/x.conf"),
    special("rpm-folder", "post", "rm -rf /usr/share/rpm\nmkfifo /usr/share/rpm"),
    hooked("dracut", "initramfs-link", "ln -sf @CANARIES@/key $out"),
    hooked("dracut", "initramfs-proc", "ln -sf /proc/self/root@CANARIES@/key $out"),
    hooked("dracut", "initramfs-fifo", "mkfifo $out", status="refused"),
    hooked("dracut", "initramfs-folder", "mkdir -p $out/x", status="refused"),
    hooked("dracut", "initramfs-damaged", "head -c 100000 /dev/urandom >$out", status="refused"),
    hooked("dracut", "initramfs-huge", "truncate -s 1099511627776 $out", status="refused"),
    hooked("dracut", "initramfs-bomb", "head -c 300000000 /dev/zero | gzip >$out", status="refused", timeout=90),
    hooked("dracut", "initramfs-swaps", "cat /usr/lib/dracut/image >$out\n/usr/libexec/attack swap $out @CANARIES@/key", status="either",
           error="initramfs", check=same_initramfs),
    hooked("dracut", "initramfs-root", "mount -o remount,rw / 2>/dev/null\necho x >/usr/share/hostile/written 2>/dev/null",
           check=lambda result: "dracut wrote into the image" if result.cat("/usr/share/hostile/written") else None,
           status="clean"),
    hooked("dracut", "initramfs-reports", "mkdir /run/edgegpu-out/more\nrm -rf /run/edgegpu-out\nmv /run/edgegpu-out /run/x"),
    hooked("depmod", "depmod-links", "cd /usr/lib/modules/$kernel\nfor index in dep dep.bin alias symbols builtin.bin; do\n"
           "    ln -s @CANARIES@/key modules.$index\ndone\nexit 0"),
    hooked("depmod", "depmod-fifo", "mkfifo /usr/lib/modules/$kernel/modules.dep\nexit 0"),
    hooked("depmod", "depmod-folder", f"cd /usr/lib/modules\nmv $kernel old\nln -s {FOLDER}/1-1.x86_64 $kernel\nexit 0"),
    hooked("depmod", "depmod-swaps", "/usr/libexec/attack swap /usr/lib/modules/$kernel @CANARIES@/folder/1-1.x86_64",
           status="either", error="/usr/lib/modules|depmod", check=holds(
               {f"/usr/lib/modules/{KERNEL}/vmlinuz": "a kernel\n", f"/usr/lib/modules/{KERNEL}/modules.dep": ""},
               {f"/usr/lib/modules/{KERNEL}": ("d",)})),
    hooked("depmod", "depmod-usr", f"mv /usr/share /usr/share.old\nln -s {FOLDER} /usr/share"),
    Attack("hostile-owner-fifo", {"pre": "rm -f /usr/share/owned/app\nmkdir -p /usr/share/owned\nrm -f /usr/share/owned/app\n"
                                         "mkfifo /usr/share/owned/app"}, payload_file("/usr/share/owned/app", attribute=OWNED),
           error="hostile-owner-fifo|/usr/share/owned"),
    Attack("hostile-owner-hard", {"pre": "rm -f /usr/share/owned/app\nln /run/ostree-booted /usr/share/owned/app 2>/dev/null\n"
                                         "ln /usr/libexec/attack /usr/share/owned/app 2>/dev/null\n:"},
           payload_file("/usr/share/owned/app", attribute=OWNED), error="hostile-owner-hard|/usr/share/owned"),
]
# The record holds something that no shim leaves there, or something of it is gone.
refused(ATTACKS, *(f"record-{name}" for name in (
    "kept-link", "kept-proc", "kept-file-link", "kept-relative", "kept-fifo", "kept-folder", "kept-names", "kept-many",
    "calls-link", "calls-fifo", "calls-folder", "grubby-link", "grubby-fifo", "ldconfig-link", "gone")))
# What a build reads is no file, or is not what it should be: the programs and accounts, the policy, the kernel, the initramfs,
# the index of kernel modules.
refused(ATTACKS, "real-link", "special-passwd-folder", "special-passwd-damaged", "special-semanage-fifo", "special-kernel-fifo",
        "initramfs-link", "initramfs-proc", "depmod-links", "depmod-fifo", "depmod-folder")
