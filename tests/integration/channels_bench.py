"""A published repository with two channels, and a device that follows one."""
import hashlib
import json
import os
import re
import subprocess
import sys

import jsonschema

import lab_image as lab
from publish_bench import Bench, SIGN

CANARY, STABLE, NEXT = "edge/canary", "edge/stable", "edge/next"
SCHEMAS = {name: jsonschema.Draft7Validator(json.loads((lab.SOURCE / f"docs/schemas/{name}.json").read_text()))
           for name in ("promote", "channels")}


class Channels:
    """A published repository with two channels."""

    def __init__(self, bench, checks):
        self.bench, self.checks = bench, checks
        self.device = bench.work / "device"

    def version(self, content, **options):
        """A new version of the canary channel, published; its checksum."""
        commit = self.bench.commit(content, ref=CANARY, **options)
        self.bench.good(f"{content} is published", *SIGN, refs=(CANARY,))
        return commit

    def good(self, name, source, *more, ref=STABLE, sign=SIGN, repo=None):
        """A promotion that has to succeed: its document."""
        done = self.bench.promote(source, ref, "--json", "--by", "ann", *sign, *more, repo=repo)
        self.checks.check(name, done.returncode == 0 and "CRITICAL" not in done.stderr, done.stderr[-2000:])
        document = json.loads(done.stdout) if done.returncode == 0 else {}
        self.checks.equal(f"{name}: its document satisfies docs/schemas/promote.json",
                          [error.message for error in SCHEMAS["promote"].iter_errors(document)], [])
        return document

    def refused(self, name, words, source, *more, ref=STABLE, status=1, repo=None):
        """One that has to fail with these words, and to leave everything as it was."""
        before = self.everything()
        for dry in ((), ("--dry-run",)):
            done = self.bench.promote(source, ref, *more, *dry, repo=repo)
            self.checks.check(f"{name}: refused {' '.join(dry)}", done.returncode == status and re.search(words, done.stderr) and
                              "hint: " in done.stderr, (done.returncode, done.stdout, done.stderr[-2000:]))
        self.checks.equal(f"{name}: nothing is written", self.everything(), before)

    def everything(self):
        """Contents and times of all files but locks."""
        return self.bench.seen(), {name: time for name, time in self.bench.times().items() if not name.startswith("edgegpu-locks/")}

    def show(self, *words, repo=None):
        done = self.bench.run(lab.EDGEGPU, "channels", *words, "--repo", repo or self.bench.target, "--json")
        document = json.loads(done.stdout)
        self.checks.equal(f"channels {' '.join(words)}: its document satisfies docs/schemas/channels.json",
                          [error.message for error in SCHEMAS["channels"].iter_errors(document)], [])
        return document, done.returncode

    def pull(self):
        """The device that follows the stable channel takes what it offers, as rpm-ostree does: nothing older."""
        return subprocess.run(["ostree", f"--repo={self.device}", "pull", "--disable-fsync", "--timestamp-check", "edge", STABLE], text=True,
                              env=self.bench.environment, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def upgrade(self, name, expected):
        """The same, and it gets this commit; what ostree says."""
        done = self.pull()
        got = lab.run("ostree", f"--repo={self.device}", "rev-parse", f"edge:{STABLE}").strip() if done.returncode == 0 else done.stdout
        self.checks.equal(name, got, expected)
        return done.stdout

    def content(self, commit):
        return lab.run("ostree", f"--repo={self.device}", "cat", commit, "/usr/share/content")

    def requests(self):
        """What clients have asked the server for since the last call."""
        log = self.bench.work / "nginx/access.log"
        text = log.read_text()
        os.truncate(log, 0)
        return text


def value(repo, commit, key):
    return subprocess.run(["ostree", f"--repo={repo}", "show", f"--print-metadata-key={key}", commit], text=True, env=lab.PLAIN,
                          check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.strip()


def library(version):
    """A file of which most is the same in each version."""
    return b"".join(hashlib.sha256(str(i).encode()).digest() * 4 + version.encode() for i in range(2000))


def main(name, *parts):
    """Runs the parts of a test, each of which gets channels, bench and checks."""
    lab.need("ostree", "gpg", "strace", "nginx")
    checks = lab.Checks()
    bench = Bench(lab.work_directory(name), checks)
    channels = Channels(bench, checks)
    for part in parts:
        part(channels, bench, checks)
    sys.exit(checks.finish())
