"""A device with real ostree deployments, and images that differ in their kernel arguments: for
kernel_arguments_test."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading

SOURCE = pathlib.Path(__file__).resolve().parents[2]
IN_NAMESPACE = SOURCE / "tests/support/user_namespace.py"
SCRIPT = SOURCE / "src/customise/device/kernel-arguments"
STAND_IN = pathlib.Path(os.environ.get("EDGEGPU", SOURCE / "build/edgegpu")).with_name("stand_in_rpm_ostree")
ENVIRONMENT = {"PATH": "/tmp/d/bin:/usr/bin:/usr/sbin", "LC_ALL": "C.UTF-8", "OSTREE_SYSROOT_OPTS": "skip-sync"}
# Kills whoever called it, at the call whose number the file says; it stands for a power cut.
SYNC = """#!/bin/sh
left=$(cat /run/syncs)
echo $((left - 1)) >/run/syncs
[ "$left" != 1 ] || kill -9 $PPID
"""
passed = failed = 0
printing, using_images = threading.Lock(), threading.Lock()


def check(name, good, detail=""):
    global passed, failed
    with printing:
        passed, failed = passed + bool(good), failed + (not good)
        print(f"ok {name}" if good else f"not ok {name}: {detail}", flush=True)


def counts():
    """How many checks passed, and how many did not."""
    return passed, failed


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env={**os.environ, **ENVIRONMENT,
                                                                                 "PATH": os.environ["PATH"]}).stdout


def fill(directory):
    """Makes it a file system that has no block left, and tells the file that has the last one."""
    files = {path.name: path.read_bytes() for path in directory.iterdir()}
    assert all(len(content) <= 4096 for content in files.values())
    run("mount", "-t", "tmpfs", "-o", f"size={4 * (len(files) + 1)}k", "edgegpu-test", directory)
    for name, content in files.items():
        (directory / name).write_bytes(content)
    (directory / "full").write_bytes(bytes(4096))
    return directory / "full"


class Images:
    """Commits that differ in their list of kernel arguments; None is one without a list."""

    def __init__(self, work):
        self.work, self.sysroot, self.known = work, work / "template", {}
        self.sysroot.mkdir()
        run("ostree", "admin", "init-fs", self.sysroot)
        run("ostree", "admin", f"--sysroot={self.sysroot}", "os-init", "lab")

    def commit(self, listed):
        with using_images:
            return self.commit_alone(listed)

    def commit_alone(self, listed):
        if listed not in self.known:
            tree = self.work / f"tree{len(self.known)}"
            for directory in ("usr/lib/modules/6.1", "usr/etc", "usr/lib/edgegpu", "boot", "sysroot", "dev", "proc",
                              "run", "sys", "tmp", "var"):
                (tree / directory).mkdir(parents=True)
            for name in ("vmlinuz", "initramfs.img"):
                (tree / "usr/lib/modules/6.1" / name).write_text(name)
            for name in ("bin", "sbin", "lib", "lib64"):
                (tree / name).symlink_to(f"usr/{name}")
            (tree / "ostree").symlink_to("sysroot/ostree")
            (tree / "usr/lib/os-release").write_text("ID=lab\nPRETTY_NAME=lab\n")
            if listed is not None:
                (tree / "usr/lib/edgegpu/kernel-arguments").write_text(listed)
            run("ostree", f"--repo={self.sysroot}/ostree/repo", "commit", "--owner-uid=0", "--owner-gid=0",
                f"--branch=lab/{len(self.known)}", f"--tree=dir={tree}")
            self.known[listed] = f"lab/{len(self.known)}"
        return self.known[listed]


class Device:
    """One with a deployment of the image with this list, installed with these arguments. Its `unit` is what this image brings (the
    others have "new"): "new" runs the program at boot and shutdown; "none" is for images of other programs; "old" has brought
    the arguments of its commit in line and recorded them, as versions before did, and does nothing for those of the next."""

    def __init__(self, images, rpm_ostree, arguments, listed, unit="new"):
        self.images, self.rpm_ostree, self.units = images, rpm_ostree, {}
        ref = images.commit(listed)
        self.root = pathlib.Path(tempfile.mkdtemp(dir=images.work))
        self.sysroot, self.run, self.bin = self.root / "sysroot", self.root / "run", self.root / "bin"
        with using_images:
            run("cp", "-a", images.sysroot, self.sysroot)
        run("ostree", "admin", f"--sysroot={self.sysroot}", "deploy", "--os=lab",
            *[f"--karg-append={argument}" for argument in arguments], ref)
        self.var = self.sysroot / "ostree/deploy/lab/var"
        self.bin.mkdir()
        if rpm_ostree:
            shutil.copy(STAND_IN, self.bin / "rpm-ostree")
        self.program("sync", SYNC)
        self.boot()
        self.units[self.commit()] = unit
        if unit == "old":
            (self.var / "lib/edgegpu").mkdir(parents=True)
            (self.var / "lib/edgegpu/kernel-arguments").write_text(
                f"last {self.commit()}\n" + "".join(f"{self.commit()} {one}\n" for one in (listed or "").splitlines()))

    def program(self, name, text):
        """Adds one to those of the device."""
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def entries(self):
        """Of the boot loader, the default one first."""
        entries = []
        for path in (self.sysroot / "boot/loader/entries").glob("*.conf"):
            values = dict(line.split(" ", 1) for line in path.read_text().splitlines() if " " in line)
            entries.append((int(values["version"]), path, values["options"]))
        return sorted(entries, reverse=True)

    def line(self, entry=0):
        """The arguments that the next boot has, without the one that names the deployment."""
        return " ".join(word for word in self.entries()[entry][2].split(" ") if not word.startswith("ostree="))

    def boot(self, entry=0):
        """A boot of the default deployment, or of another."""
        self.deployment = self.started_by(self.entries()[entry][2])
        shutil.rmtree(self.run, ignore_errors=True)
        (self.run / "ostree").mkdir(parents=True)
        (self.run / "ostree-booted").touch()
        (self.run / "syncs").write_text("0")

    def commit(self):
        """The one that is booted."""
        return self.deployment.name.split(".")[0]

    def commits(self):
        """Those that the boot loader offers, the default first."""
        return [self.started_by(options).name.split(".")[0] for _, _, options in self.entries()]

    def started_by(self, options):
        link = next(word for word in options.split(" ") if word.startswith("ostree="))[len("ostree=/"):]
        return (self.sysroot / link).resolve()

    def inside(self, *command):
        d = "/tmp/d"
        return subprocess.run(
            ["bwrap", "--die-with-parent", "--unshare-pid", "--cap-add", "ALL", "--bind", self.deployment, "/", "--bind", self.sysroot, "/sysroot", "--ro-bind",
             "/usr", "/usr", "--bind", self.sysroot / "boot", "/boot", "--bind", self.var, "/var", "--bind", self.run,
             "/run", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--ro-bind", self.deployment / "usr",
             f"{d}/usr", "--bind", self.deployment / "etc", f"{d}/etc", "--bind", self.sysroot, f"{d}/sysroot",
             "--bind", self.sysroot / "boot", f"{d}/boot", "--bind", self.var, f"{d}/var", "--bind", self.run, f"{d}/run",
             "--bind", self.sysroot / "ostree", f"{d}/ostree", "--ro-bind", self.bin, f"{d}/bin", "--ro-bind", SCRIPT,
             f"{d}/script", *command], text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, check=False, env={**ENVIRONMENT, "EDGEGPU_ROOT": d})

    def start(self, syncs=0, mode="boot"):
        """The unit's program. With `syncs` the power fails at that call of sync."""
        if self.units.get(self.commit(), "new") != "new":
            return ""
        (self.run / "syncs").write_text(str(syncs))
        result = self.inside("sh", "/tmp/d/script", mode)
        if not syncs and result.returncode != 0:
            check(f"a {mode} never fails", False, result.stdout)
        return result.stdout

    def ostree(self, *words):
        return self.call("ostree", "admin", *words)

    def call(self, *words):
        result = self.inside(*words)
        assert result.returncode == 0, result.stdout
        return result.stdout

    def shut_down(self, syncs=0):
        """In order: what is staged is deployed, then the unit stops. What the program said."""
        if (self.run / "ostree/staged-deployment").exists():
            self.ostree("finalize-staged")
        return self.start(syncs, "shutdown")

    def reboot(self, entry=0):
        said = self.shut_down()
        self.boot(entry)
        return said

    def turn(self):
        """A boot, the program, and an orderly reboot: the line after it."""
        said = self.start()
        said += self.reboot()
        return self.line(), said

    def fetch(self, listed):
        """Has the commit of this list in its repository: the ref."""
        ref = self.images.commit(listed)
        with using_images:
            run("ostree", f"--repo={self.sysroot}/ostree/repo", "pull-local", "--disable-fsync",
                f"{self.images.sysroot}/ostree/repo", ref)
        return ref

    def stage(self, listed):
        """An image with this list, for the next boot."""
        ref = self.fetch(listed)
        if self.rpm_ostree:
            self.call("rpm-ostree", "deploy", ref)
        else:
            self.ostree("deploy", "--stage", "--os=lab", ref)

    def upgrade(self, listed):
        """To an image with this list, up to the boot into it: what the program said at shutdown."""
        self.stage(listed)
        return self.reboot()

    def go_back(self):
        """What greenboot does in the deployment that GRUB has fallen back to: it becomes the default."""
        if self.rpm_ostree:
            self.call("rpm-ostree", "rollback")
        else:
            self.ostree("undeploy", "0")

    def state_file(self):
        return self.deployment / "etc/edgegpu/kernel-arguments"

    def state(self):
        return self.state_file().read_text() if self.state_file().is_file() else ""

    def done(self):
        return self.state().startswith(f"{self.commit()}\n")

    def settle(self):
        """Two boots, after which nothing is to be left to do."""
        self.turn()
        self.turn()
        return self.line(), self.done()


def listed(*arguments):
    return "".join(f"{argument}\n" for argument in arguments)
