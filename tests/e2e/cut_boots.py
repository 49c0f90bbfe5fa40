"""Disks after a power cut, started: they have to come up healthy, and the next run of the updater has to end the upgrade."""
import json
import re
import shutil
import subprocess

from rehearsal import ROOT
from served import Site

LIMIT_S = 900
# NVIDIA's daemon fails where there is no GPU.
HEALTH = "systemctl is-system-running --wait >/dev/null; systemctl reset-failed nvidia-persistenced.service 2>/dev/null; systemctl is-system-running; systemctl --failed --no-legend --plain; systemctl is-active greenboot-healthcheck.service boot-complete.target"


class Machine:
    """A machine that machine_driver controls."""

    def __init__(self, disk, work):
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        self.driver = subprocess.Popen([ROOT / "build/machine_driver", disk, work, "uefi"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True)
        self.answer()

    def answer(self):
        line = self.driver.stdout.readline()
        if not line:
            raise RuntimeError(f"the machine: {self.driver.stderr.read()[-2000:]}")
        return json.loads(line)

    def do(self, command):
        self.driver.stdin.write(command + "\n")
        self.driver.stdin.flush()
        return self.answer()

    def run(self, script, seconds=300):
        done = self.do(f"run {seconds} {script}")
        return done["status"], done["output"].strip()

    def end(self):
        self.driver.stdin.close()
        self.driver.terminate()
        self.driver.wait()
        self.driver.stdout.close()
        self.driver.stderr.close()


def running(machine):
    """(the commit that runs, its complaints)."""
    _, commit = machine.run("ostree admin status | sed -n 's/^\\* [^ ]* \\([0-9a-f]*\\)\\.[0-9].*/\\1/p'")
    _, health = machine.run(HEALTH, 600)
    complaints = [line for line in health.splitlines() if line not in ("running", "active")]
    return commit, complaints


def boot(disk, moment, work, commits, name):
    """Whether the disk starts healthy and ends the upgrade."""
    problems, way = [], []
    machine = Machine(disk, work / "machine")
    try:
        machine.do(f"up {LIMIT_S}")
        commit, complaints = running(machine)
        way.append({commits[0]: "old", commits[1]: "new"}.get(commit, commit or "?"))
        problems += complaints
        with Site(work / "edge") as site:
            machine.run(f"sed -i -e 's#^url=.*#url={site.url}#' -e '/^tls-/d' /etc/ostree/remotes.d/*.conf")
            status, said = machine.run("edgegpu-update now --no-restart 2>&1", LIMIT_S)
        if status != 0:
            problems.append(f"edgegpu-update: {status}: {said}")
        machine.do(f"reboot {LIMIT_S}")
        commit, complaints = running(machine)
        way.append({commits[0]: "old", commits[1]: "new"}.get(commit, commit or "?"))
        problems += complaints
        if commit != commits[1]:
            problems.append(f"after the next run of the updater it runs {commit}: {said}")
        _, arguments = machine.run("cat /proc/cmdline")
        if not re.search(r"edgegpu\.stage=2\b", arguments) or "edgegpu.stage=1" in arguments:
            problems.append(f"its arguments are {arguments}")
    except (RuntimeError, ValueError) as problem:
        problems.append(str(problem))
    finally:
        machine.end()
    print(f"{'not ok' if problems else 'ok'} started {name}, cut at event {moment}: {' → '.join(way)}", *problems, sep="\n    ", flush=True)
    return not problems
