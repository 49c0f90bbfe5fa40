"""Builds that are watched while they run: for tests that stop them, or run several at a time."""
import re
import subprocess
import threading
import time

import lab_image as lab

STAGES = ["resolve", "fetch", "compose", "customise", "policy", "label", "commit"]
# The smallest set of the lab that boots, and so can be composed.
PACKAGES = ["filesystem", "bash", "coreutils", "util-linux", "sed", "grep", "gawk", "findutils", "kmod", "cpio", "zstd",
            "systemd", "systemd-udev", "dbus", "dracut", "ostree", "ostree-boot", "policycoreutils",
            "selinux-policy-targeted"]
STAGE_LINE = re.compile(r"[-✓] (\w+) +([\d.]+) s  ")


def write_blueprint(path, version, ref, packages=(), overlay="./overlay"):
    """The smallest image of the lab, with more packages and one overlay."""
    tables = "".join(f'[[packages]]\nname = "{package}"\n' for package in [*PACKAGES, *packages])
    path.write_text(f'name = "small"\nversion = "{version}"\narchitecture = "x86_64"\ndistro = "lab-12"\naccounts.login = "none"\n'
                    f'[ostree]\nref = "{ref}"\n[[repositories]]\nid = "baseos"\nbaseurl = "{lab.LAB}/repos/baseos"\n'
                    f'gpgkey = "{lab.LAB}/RPM-GPG-KEY-lab"\n{tables}[[overlays]]\nsource = "{overlay}"\n',
                    encoding="utf-8")
    return path


class Build:
    """A running `edgegpu build`; knows from its messages in which stage it is."""

    def __init__(self, argv, environment):
        self.process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                        env=environment, start_new_session=True)
        self.lines = []
        self.seconds = {}
        self.changed = threading.Condition()
        self.closed = False
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stderr:
            with self.changed:
                self.lines.append(line)
                found = STAGE_LINE.match(line)
                if found:
                    self.seconds[found[1]] = float(found[2])
                self.changed.notify()
        with self.changed:
            self.closed = True
            self.changed.notify()

    def stage(self):
        """The stage that runs; "end" after the last."""
        return next((s for s in STAGES if s not in self.seconds), "end")

    def wait_for(self, stage):
        """Until `stage` begins or the build ends; whether it began."""
        before = STAGES[:STAGES.index(stage)]
        with self.changed:
            self.changed.wait_for(lambda: self.closed or all(s in self.seconds for s in before))
            return not self.closed

    def wait(self, seconds):
        """That long, or until the build ends."""
        with self.changed:
            self.changed.wait_for(lambda: self.closed, seconds)

    def interrupt(self, number):
        """Sends a signal, not before the program is there to catch it."""
        while not self.closed:
            with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as file:
                caught = next((int(line.split()[1], 16) for line in file if line.startswith("SigCgt:")), 0)
            if caught >> (number - 1) & 1:
                break
            time.sleep(0.001)
        self.process.send_signal(number)

    def finish(self):
        """Its exit status. Killed children may hold the pipe a moment longer."""
        status = self.process.wait()
        self.reader.join()
        return status

    def messages(self):
        return "".join(line for line in self.lines if not line.startswith(("- ", "✓ ", "  ", "warning: ")))
