"""A device under test: a disk with an ostree deployment, booted in QEMU.

The disk is one ext4 file system, made of a directory in memory: only there may an ordinary user, who is
root of a user namespace of his own for that, give files their owners and labels. QEMU starts the kernel that the boot-loader entry names
(GRUB's part is played here: the entries in /boot/loader/entries are read from the disk before
each boot), so what a guest sees of ostree is real: the BLS entries, the kernel arguments,
ostree-prepare-root in the initramfs, the read-only /usr.

Tests put a script on the disk that a oneshot unit runs after multi-user.target; it reports
lines "CHECK name ok|FAIL detail" on the serial console and powers off.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import time

# Not the one of the integration tests, which run at the same time: a cache serves one build at a time.
CACHE = pathlib.Path(__file__).resolve().parents[2] / "build/e2e/cache"
STATEROOT = "lab"
LABEL = "edgegpu"
# A boot takes about a minute; other tests run beside it.
BOOT_LIMIT_S = 600
IN_NAMESPACE = pathlib.Path(__file__).resolve().parents[1] / "support/user_namespace.py"
# Ordinary users do not have mke2fs and debugfs in theirs.
TOOLS = {**os.environ, "PATH": os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"}

UNIT = """[Unit]
Description=edgegpu end-to-end checks
After=multi-user.target network-online.target
Wants=network-online.target

[Service]
Type=oneshot
ExecStart=/bin/bash /etc/edgegpu-test/run
StandardOutput=tty
StandardError=tty
TTYPath=/dev/ttyS0
ExecStopPost=/bin/systemctl --no-block poweroff

[Install]
WantedBy=default.target
"""

PRELUDE = r"""
report() { printf '\nCHECK %s %s %s\n' "$1" "$2" "${3:-}"; }
# check NAME COMMAND...: reports whether the command succeeds, with its output if not
check() {
    local name=$1 output
    shift
    if output=$("$@" 2>&1); then report "$name" ok; else report "$name" FAIL "$(tr '\n' ';' <<<"$output" | cut -c1-600)"; fi
}
"""


def run(*argv, **options):
    options.setdefault("env", TOOLS)
    return subprocess.run([str(a) for a in argv], check=True, text=True, **options)


def output_of(*argv, **options):
    return run(*argv, stdout=subprocess.PIPE, **options).stdout.strip()


def copy_label(source, target, fallback):
    try:
        label = os.getxattr(source, "security.selinux", follow_symlinks=False)
    except OSError:
        label = (fallback + "\0").encode()
    os.setxattr(target, "security.selinux", label, follow_symlinks=False)


def label_all(root, label):
    for directory, names, files in os.walk(root):
        for path in [directory] + [os.path.join(directory, n) for n in names + files]:
            os.setxattr(path, "security.selinux", (label + "\0").encode(), follow_symlinks=False)


class Sysroot:
    """A directory with a deployment, on its way to the disk."""

    def __init__(self, root):
        self.root = root

    def deploy(self, repo, ref, kargs):
        """Deploys `ref` from the local repository."""
        root, ostree = self.root, ["ostree", "admin", f"--sysroot={self.root}"]
        run(*ostree, "init-fs", root)
        run(*ostree, "os-init", STATEROOT)
        run("ostree", f"--repo={root}/ostree/repo", "pull-local", repo, ref, stdout=subprocess.DEVNULL)
        (root / "boot/loader.0").mkdir(exist_ok=True)
        # Greenboot writes its verdict here, although no GRUB reads it in these boots.
        (root / "boot/grub2").mkdir(exist_ok=True)
        (root / "boot/grub2/grubenv").write_text("# GRUB Environment Block\n".ljust(1024, "#"))
        if not (root / "boot/loader").exists():
            os.symlink("loader.0", root / "boot/loader")
        arguments = [f"root=LABEL={LABEL}", "rw", "console=ttyS0", "security=selinux",
                     "selinux=1", "enforcing=1", *kargs,
                     # agetty would hang up the line that the checks report on
                     "systemd.mask=serial-getty@ttyS0.service"]
        image = output_of("ostree", f"--repo={repo}", "cat", ref,
                          "/usr/lib/edgegpu/kernel-arguments").splitlines()
        arguments += [argument for argument in image if argument not in arguments]
        run(*ostree, "deploy", f"--os={STATEROOT}", *[f"--karg={a}" for a in arguments], ref)
        # The remote that the image configures is the one to follow.
        for origin in root.glob(f"ostree/deploy/{STATEROOT}/deploy/*.origin"):
            origin.write_text(f"[origin]\nrefspec=edge:{ref}\n")

    def deployment(self):
        """The newest deployment's directory."""
        found = [p for p in (self.root / f"ostree/deploy/{STATEROOT}/deploy").iterdir() if p.is_dir()]
        return max(found, key=lambda p: p.stat().st_ctime)

    def label(self):
        """`ostree admin deploy` labels neither /etc's directories nor /var where the kernel
        that runs it has no SELinux, as on most build machines."""
        deployment = self.deployment()
        etc, usr_etc = deployment / "etc", deployment / "usr/etc"
        for directory, names, files in os.walk(etc):
            relative = os.path.relpath(directory, etc)
            for name in ["."] + names + files:
                copy_label(usr_etc / relative / name, os.path.join(directory, name),
                           "system_u:object_r:etc_t:s0")
        label_all(self.root / f"ostree/deploy/{STATEROOT}/var", "system_u:object_r:var_t:s0")
        label_all(self.root / "boot", "system_u:object_r:boot_t:s0")

    def put_check(self, script):
        """Installs the script and its unit into the newest deployment's /etc."""
        etc = self.deployment() / "etc"
        files = {"edgegpu-test/run": (PRELUDE + script, "etc_t"),
                 "systemd/system/edgegpu-test.service": (UNIT, "systemd_unit_t")}
        for name, (text, kind) in files.items():
            path = etc / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            for labelled in (path.parent, path):
                if labelled.name not in ("system",):
                    os.setxattr(labelled, "security.selinux",
                                f"system_u:object_r:{kind}:s0\0".encode())
        wants = etc / "systemd/system/default.target.wants"
        wants.mkdir(exist_ok=True)
        link = wants / "edgegpu-test.service"
        if not link.is_symlink():
            os.symlink("../edgegpu-test.service", link)
        for labelled in (wants, link):
            os.setxattr(labelled, "security.selinux", b"system_u:object_r:systemd_unit_t:s0\0",
                        follow_symlinks=False)


def make_disk(image, repo, ref, script, kargs):
    """Runs as root, of the machine or of a user namespace."""
    root = image.parent / "root"
    root.mkdir(exist_ok=True)
    run("mount", "-t", "tmpfs", "-o", "mode=0755,size=5g", "edgegpu-test", root)
    try:
        sysroot = Sysroot(root)
        sysroot.deploy(repo, ref, kargs)
        sysroot.label()
        sysroot.put_check(script)
        image.unlink(missing_ok=True)
        run("mke2fs", "-q", "-t", "ext4", "-L", LABEL, "-E", "lazy_itable_init=1,root_owner=0:0", "-d", root,
            image, "6g")
    finally:
        run("umount", root)
    # mke2fs takes the names below the directory, not what the directory itself has.
    label = image.parent / "root-label"
    label.write_bytes(b"system_u:object_r:root_t:s0\0")
    run("debugfs", "-w", "-R", f"ea_set -f {label} / security.selinux", image, stderr=subprocess.DEVNULL)


class Disk:
    def __init__(self, work):
        self.work = pathlib.Path(work)
        self.work.mkdir(parents=True, exist_ok=True)
        self.image = self.work / "disk.img"

    def install(self, repo, ref, script, kargs=()):
        """Makes the disk: `ref` from the local repository, deployed, and the script that a boot runs."""
        given = json.dumps([str(self.image), str(repo), ref, script, list(kargs)])
        run(IN_NAMESPACE, sys.executable, __file__, input=given)

    def debugfs(self, request):
        """What debugfs answers; the disk must not be in use."""
        return output_of("debugfs", "-R", request, self.image, stderr=subprocess.DEVNULL)

    def boot_entry(self, index=0):
        """(kernel, initrd, arguments) of the index-th boot-loader entry, the default first."""
        # What the guest's journal holds comes first. Exit status 1: something was put right.
        subprocess.run(["e2fsck", "-p", self.image], env=TOOLS, stdout=subprocess.DEVNULL, check=False)
        names = re.findall(r"^/\d+/\d+/\d+/\d+/([^/]+\.conf)/", self.debugfs("ls -p /boot/loader/entries/"), re.M)
        entries = [dict(line.split(None, 1) for line in self.debugfs(f"cat /boot/loader/entries/{name}").splitlines()
                        if " " in line) for name in names]
        fields = sorted(entries, reverse=True, key=lambda entry: int(entry.get("version", "0")))[index]
        copies = []
        for field in ("linux", "initrd"):
            copies.append(self.work / field)
            self.debugfs(f"dump /boot/{fields[field].lstrip('/').removeprefix('boot/')} {copies[-1]}")
        return *copies, fields["options"]

    def boot(self, name, index=0, online=True):
        """Boots, waits for the guest to power off, returns {check: (ok, detail)}. Offline, it gets an address from QEMU
        and reaches nothing."""
        kernel, initrd, arguments = self.boot_entry(index)
        console = self.work / f"console-{name}.log"
        command = ["qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2",
                   "-m", "2048", "-display", "none", "-monitor", "none", "-no-reboot",
                   "-serial", f"file:{console}", "-kernel", kernel, "-initrd", initrd,
                   # Emulated on a busy machine, the timer fails the kernel's test, which panics then.
                   "-append", f"{arguments} no_timer_check", "-netdev", f"user,id=net0,restrict={'off' if online else 'on'}",
                   "-device", "virtio-net-pci,netdev=net0",
                   "-drive", f"file={self.image},format=raw,if=virtio,cache=unsafe"]
        began = time.monotonic()
        machine = subprocess.Popen([str(c) for c in command], stdin=subprocess.DEVNULL)
        try:
            machine.wait(timeout=BOOT_LIMIT_S)
        except subprocess.TimeoutExpired:
            machine.kill()
            machine.wait()
            print(f"{name}: no power-off within {BOOT_LIMIT_S} s")
        print(f"{name}: {time.monotonic() - began:.0f} s, console in {console}")
        text = console.read_text(errors="replace")
        checks = {}
        for line in text.splitlines():
            words = line.strip().split(None, 3)
            if len(words) >= 3 and words[0] == "CHECK" and words[2] in ("ok", "FAIL"):
                checks[words[1]] = (words[2] == "ok", words[3] if len(words) > 3 else "")
        if not checks:
            print("the end of the console:")
            print("\n".join(text.splitlines()[-40:]))
        return checks


def judge(checks, wanted):
    """Prints every check; exits with 1 if one failed or is missing."""
    bad = False
    for name in wanted:
        ok, detail = checks.get(name, (False, "not reported"))
        print(f"{'ok' if ok else 'not ok'} {name} {'' if ok else detail}")
        bad = bad or not ok
    if bad:
        sys.exit(1)


if __name__ == "__main__":
    disk_image, *what = json.load(sys.stdin)
    make_disk(pathlib.Path(disk_image), *what)
