"""The server's side of a rollout: versions that go through a canary channel to the one that devices follow, plans, and copies of
the repository as somebody has it who can answer for the server, but has no key."""
import json
import os
import pathlib
import re
import shutil
import subprocess

from rehearsal import EDGEGPU, ROOT, build

CANARY, STABLE = "lab/12/x86_64/canary", "lab/12/x86_64/stable"
PLAN = f"edgegpu-rollout/{STABLE}"
LAB = ROOT / "build/lab"
SIGN = ("--sign", "lab@example.invalid", "--gpg-homedir", LAB / "gnupg")
BLUEPRINT = f"""extends = "{ROOT}/blueprints/lab-luks.toml"
version = "@NUMBER@.0.0"

[ostree]
ref = "{CANARY}"
url = "@URL@"

[[repositories]]
id = "microshift"
baseurl = "{LAB}/repos/microshift"
gpgkey = "{LAB}/RPM-GPG-KEY-lab"

[[packages]]
name = "greenboot"

[[packages]]
name = "curl"

[[customizations.files]]
path = "/etc/edgegpu-number"
data = "@NUMBER@\\n"

[updates]
rollouts = true
report_to = "@URL@/reports"
"""


def run(*argv, **options):
    return subprocess.run([str(word) for word in argv], check=True, text=True, stdout=subprocess.PIPE, **options).stdout.strip()


class Fleet:
    """What the people do who publish; `commits` are the versions that STABLE has had."""

    def __init__(self, work, site):
        self.work, self.site, self.commits, self.published = work, site, [], 0
        self.edge, self.repo = work / "edge", work / "repo"
        self.gnupg = work / "gnupg"
        self.gnupg.mkdir(mode=0o700)
        run("gpg", "--homedir", self.gnupg, "--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", "", "--quick-generate-key",
            "other@example.invalid", "ed25519", "sign")

    def publish(self):
        """The next version, to the canary devices."""
        self.published += 1
        number = str(self.published)
        blueprint = self.work / f"{number}.toml"
        blueprint.write_text(BLUEPRINT.replace("@NUMBER@", number).replace("@URL@", self.site.url))
        build(blueprint, self.repo, self.work / f"{number}.lock")
        run(EDGEGPU, "publish", CANARY, "--from", self.repo, "--to", self.edge, "--quiet", *SIGN)

    def promote(self):
        """What canary devices have, to all others: the commit."""
        run(EDGEGPU, "promote", CANARY, "--to", STABLE, "--repo", self.edge, "--by", "e2e", "--reason", "a week on canary devices", *SIGN)
        self.commits.append(run("ostree", f"--repo={self.edge}", "rev-parse", STABLE))
        return self.commits[-1]

    def rollout(self, action, *words, now=None):
        """The text of the plan that devices read then."""
        run(EDGEGPU, "rollout", action, STABLE, "--repo", self.edge, *SIGN, *words,
            env={**os.environ, **({"SOURCE_DATE_EPOCH": str(now)} if now else {})})
        return self.plan()

    def plan(self):
        return run("ostree", f"--repo={self.edge}", "cat", PLAN, "/plan") + "\n"

    def health(self):
        """(exit status, document) of `rollout check` by the reports that devices have posted."""
        reports = self.work / "reports.json"
        reports.write_text(json.dumps(self.site.reports))
        done = subprocess.run([EDGEGPU, "rollout", "check", STABLE, "--repo", self.edge, *SIGN, "--health-from", reports, "--max-failures", "0%",
                               "--json"], check=False, text=True, stdout=subprocess.PIPE)
        return done.returncode, json.loads(done.stdout)

    def copy(self, name):
        """The repository as it is now; files are shared, and may be replaced, but not written to."""
        target = self.work / f"copy-{name}"
        shutil.rmtree(target, ignore_errors=True)
        run("cp", "-al", self.edge, target)
        return target

    def flipped(self, kind):
        """A copy, of whose plan one bit of the text, the commit or its signature is another one."""
        copy = self.copy(f"flipped-{kind}")
        name = run("ostree", f"--repo={copy}", "rev-parse", PLAN)
        if kind == "filez":
            name = re.search(r"([0-9a-f]{64}) /plan$", run("ostree", f"--repo={copy}", "ls", "-C", PLAN, "/plan"))[1]
        path = copy / f"objects/{name[:2]}/{name[2:]}.{kind}"
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.unlink()
        path.write_bytes(content)
        return copy

    def forged(self, name, text, *signature):
        """A copy with a plan of this text, later than all others."""
        copy = self.copy(name)
        serial = int(re.search(r"^serial (\d+)$", self.plan(), re.M)[1]) + 1
        tree = self.work / f"tree-{name}"
        tree.mkdir()
        (tree / "plan").write_text(re.sub(r"^serial .*$", f"serial {serial}", text, flags=re.M))
        run("ostree", f"--repo={copy}", "commit", f"--branch={PLAN}", "--owner-uid=0", "--owner-gid=0", "--no-xattrs", f"--timestamp=@{serial}",
            *signature, f"--tree=dir={tree}")
        run("ostree", f"--repo={copy}", "summary", "-u")
        return copy

    def by_somebody_else(self):
        return "--gpg-sign=other@example.invalid", f"--gpg-homedir={self.gnupg}"


# Emulated on a busy machine, the kernel's test of its timer may fail, and disks and journald may take longer than systemd waits.
PATIENCE = ("no_timer_check", "systemd.default_device_timeout_sec=900", "systemd.default_timeout_start_sec=900")


def percent(millionths):
    return f"{millionths // 10_000}.{millionths % 10_000:04}%"


def disk(fleet, ref, injected, output):
    """One that a machine starts with what the ref has, and these files of its own."""
    file = pathlib.Path(f"{output}.toml")
    file.write_text(injected)
    subprocess.run([EDGEGPU, "image", ref, "--repo", fleet.edge, "--inject", file, "--type", "raw", "--output", output, "--quiet",
                    *(word for argument in PATIENCE for word in ("--karg", argument))], check=True,
                   env={**os.environ, "TMPDIR": str(output.parent)})
