"""Who has no privileges: the user who runs a test or, for root, an account that the test makes and removes.

The user gets a directory outside of the source tree, which may lie where only root can read, and in it copies
of the program, the blueprints and the lab.
"""
import atexit
import os
import pathlib
import pwd
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import lab_image as lab
from lab_image import gnupg_agents, user_namespace

IN_NAMESPACE = lab.SOURCE / "tests/support/user_namespace.py"
# Of the lab, what blueprints/lab-gpu.toml names.
LAB_PARTS = ("repos/baseos", "repos/nvidia", "repos/microshift", "images", "RPM-GPG-KEY-lab", "gnupg")


def need(*programs):
    """Skips the test unless these are there."""
    found = {"the program": lab.EDGEGPU.exists(), "the lab": (lab.LAB / "repos/baseos/repodata/repomd.xml").exists(),
             **{program: shutil.which(program, path=lab.PLAIN["PATH"]) for program in programs}}
    absent = [what for what, there in found.items() if not there]
    if absent:
        lab.skip(f"{', '.join(absent)}: not there")


def link_or_copy(source, target):
    try:
        os.link(source, target)
    except OSError:  # another file system, or a file that is not one's own
        shutil.copy2(source, target)


class OrdinaryUser:
    """The account and its directory `home`, which is all that its programs may write to."""

    def __init__(self):
        self.made = os.geteuid() == 0
        self.groups = []  # besides its own; of a user that was made
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="edgegpu-test-", dir="/var/tmp"))
        self.home.chmod(0o755)
        self.name = pwd.getpwuid(os.getuid()).pw_name
        atexit.register(self.remove)
        for number in (signal.SIGTERM, signal.SIGHUP):  # so that what is registered is done
            signal.signal(number, lambda *_: sys.exit(1))
        if self.made:
            self.name = f"edgegpu-ci-{secrets.token_hex(3)}"
            lab.run("useradd", "--no-create-home", "--home-dir", self.home, "--shell", "/bin/sh", self.name)
        account = pwd.getpwnam(self.name)
        self.uid, self.gid = account.pw_uid, account.pw_gid
        first = user_namespace.subordinate_range("/etc/subuid", self.name)
        if first is None:
            sys.exit(f"not ok: {self.name} has no range in /etc/subuid")
        self.subordinate = range(first, first + 65536)
        os.chown(self.home, self.uid, self.gid)
        self.environment = {"HOME": str(self.home), "USER": self.name, "LOGNAME": self.name, "LC_ALL": "C.UTF-8",
                            "PATH": "/usr/local/bin:/usr/bin:/bin", "TMPDIR": str(self.directory("tmp")),
                            "XDG_RUNTIME_DIR": str(self.directory("run", 0o700)), "EDGEGPU_HOST_ROOT": "/nonexistent"}

    def directory(self, name, mode=0o755):
        """A directory of the user's below `home`."""
        path = self.home / name
        path.mkdir()
        path.chmod(mode)
        os.chown(path, self.uid, self.gid)
        return path

    def start(self, *argv, path=None, **options):
        """Runs a program as the user; the result has status and both outputs."""
        identity = {"user": self.uid, "group": self.gid, "extra_groups": self.groups} if self.made else {}
        environment = {**self.environment, **({"PATH": str(path)} if path else {})}
        return subprocess.run([str(word) for word in argv], text=True, capture_output=True, check=False, env=environment,
                              cwd=self.home, stdin=subprocess.DEVNULL, umask=0o022, **identity, **options)

    def run(self, *argv, **options):
        """What a program prints that must succeed."""
        done = self.start(*argv, **options)
        if done.returncode != 0:
            sys.exit(f"not ok {' '.join(map(str, argv[:4]))} …: exit status {done.returncode}\n"
                     f"{done.stdout[-3000:]}{done.stderr[-6000:]}")
        return done.stdout

    def copy_tree(self):
        """The blueprints and all they name, with the program beside them: (edgegpu, blueprint)."""
        tree = self.home / "tree"
        for name in ("blueprints", "overlays", "manifests", "selinux"):
            shutil.copytree(lab.SOURCE / name, tree / name)
        (tree / "build/lab/repos").mkdir(parents=True)
        shutil.copy2(lab.EDGEGPU, tree / "build/edgegpu")
        for part in LAB_PARTS:
            source, target = lab.LAB / part, tree / "build/lab" / part
            if part == "gnupg":  # not its sockets
                shutil.copytree(source, target, ignore=lambda *_: [p.name for p in source.iterdir() if p.is_socket()])
            elif source.is_dir():
                shutil.copytree(source, target, copy_function=link_or_copy)
            else:
                shutil.copy2(source, target)
        if self.made:
            for directory, names, files in os.walk(tree):
                for path in [directory] + [os.path.join(directory, name) for name in files]:
                    # What is a link into the lab stays root's, who may have made it for everybody to read.
                    if os.stat(path).st_nlink == 1 or os.path.isdir(path):
                        os.chown(path, self.uid, self.gid)
        return tree / "build/edgegpu", tree / "blueprints/lab-gpu.toml"

    def owns(self, status):
        return status.st_uid == self.uid or status.st_uid in self.subordinate

    def processes(self):
        """Of the account that was made, and of its images' users."""
        for process in pathlib.Path("/proc").iterdir():
            try:
                if process.name.isdigit() and self.owns(process.stat()):
                    yield int(process.name)
            except OSError:
                continue  # it has ended

    def remove(self):
        """Ends what still runs (agents of GnuPG, podman's pause process), removes files and account."""
        if self.made and self.name.startswith("edgegpu-ci-"):
            for _ in range(50):
                left = list(self.processes()) if hasattr(self, "subordinate") else []
                for process in left:
                    try:
                        os.kill(process, signal.SIGKILL)
                    except ProcessLookupError:
                        pass
                if not left:
                    break
                time.sleep(0.1)
            shutil.rmtree(self.home, ignore_errors=True)
            subprocess.run(["userdel", "--force", self.name], capture_output=True, check=False)
        else:
            gnupg_agents.end_agents(self.home)
            subprocess.run([str(IN_NAMESPACE), "rm", "-rf", str(self.home)], check=False)
