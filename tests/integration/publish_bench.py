"""A repository of small commits that ostree made, what `edgegpu publish` makes of it, and devices that pull that over HTTP."""
import atexit
import hashlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

import lab_image as lab

REF, OTHER = "test/x86_64/edge", "test/x86_64/other"
KEY = ("--gpg-sign=lab@example.invalid", f"--gpg-homedir={lab.LAB}/gnupg")
SIGN = ("--sign", "lab@example.invalid", "--gpg-homedir", lab.LAB / "gnupg")
REMOTE = """[remote "edge"]
url=http://127.0.0.1/
gpg-verify=true
gpgkeypath=/etc/pki/edgegpu/key.asc
"""
# What gives, takes and keeps names and contents.
STEPS = "renameat,renameat2,linkat,symlinkat,unlinkat,fsync,syncfs,copy_file_range"


class Bench:
    """A source of commits, the repository that is published, and a client that pulls from it."""

    def __init__(self, work, checks):
        self.work, self.checks = work, checks
        self.source, self.target, self.client = work / "source", work / "edge/repo", work / "client"
        self.environment = {**lab.PLAIN, "HOME": str(work), "TMPDIR": str(work)}
        self.time = 1_700_000_000
        lab.run("ostree", "init", f"--repo={self.source}", "--mode=archive")
        self.target.parent.mkdir()
        self.port = self.serve()

    def serve(self):
        """nginx, with what docs/publish.md says; its port."""
        manual = (lab.SOURCE / "docs/publish.md").read_text()
        locations = re.search(r"^    location /repo/(?:.*\n)+?(?=^##)", manual, re.M)[0].replace("/srv/edge", str(self.target.parent))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        place = self.work / "nginx"
        place.mkdir()
        (place / "nginx.conf").write_text(f"""daemon off;
pid {place}/pid;
error_log {place}/error.log;
{"user root;" if os.geteuid() == 0 else ""}
events {{}}
http {{
    access_log {place}/access.log;
    client_body_temp_path {place}/body;
    proxy_temp_path {place}/proxy;
    fastcgi_temp_path {place}/fastcgi;
    uwsgi_temp_path {place}/uwsgi;
    scgi_temp_path {place}/scgi;
    server {{
        listen 127.0.0.1:{port};
{locations}
    }}
}}
""")
        server = subprocess.Popen(["nginx", "-p", place, "-c", place / "nginx.conf"], env=lab.PLAIN, stdin=subprocess.DEVNULL)
        atexit.register(server.wait)
        atexit.register(server.terminate)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and server.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return port
            time.sleep(0.05)
        sys.exit("not ok nginx does not answer")

    def commit(self, content, ref=REF, sign=KEY, key="RPM-GPG-KEY-lab", older=0, bound=None, repo=None, remote=REMOTE,
               files=None, metadata=()):
        """A commit whose image verifies what it pulls with `key`, an hour later than the one before; its checksum."""
        tree = self.work / "tree"
        shutil.rmtree(tree, ignore_errors=True)
        for path, text in {"usr/etc/ostree/remotes.d/edge.conf": remote if key else "", "usr/share/content": content,
                           "usr/lib/same": "the same in each\n" * 1000, "usr/lib/sub/deep/file": f"{content} below\n"}.items():
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            (tree / path).write_text(text)
        for path, data in (files or {}).items():
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            (tree / path).write_bytes(data)
        (tree / "usr/bin").mkdir()
        (tree / "usr/bin/link").symlink_to("../share/content")
        if key:
            (tree / "usr/etc/pki/edgegpu").mkdir(parents=True, exist_ok=True)
            shutil.copy(lab.LAB / key, tree / "usr/etc/pki/edgegpu/key.asc")
        self.time += 3600
        return lab.run("ostree", "commit", f"--repo={repo or self.source}", f"--branch={ref}", f"--tree=dir={tree}", *sign,
                       f"--timestamp=@{self.time - older}", "--owner-uid=0", "--owner-gid=0",
                       *([f"--bind-ref={bound}"] if bound else []), *[f"--add-metadata={pair}" for pair in metadata]).strip()

    def words(self, *more, refs=(REF,), source=None, target=None):
        return [str(word) for word in (lab.EDGEGPU, "--color", "never", "publish", *refs, "--from", source or self.source,
                                       "--to", target or self.target, *more)]

    def run(self, *words, wrapper=(), env=None):
        return subprocess.run([str(word) for word in (*wrapper, *words)], text=True, env=env or self.environment, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def publish(self, *more, wrapper=(), **options):
        return self.run(*self.words(*more, **options), wrapper=wrapper)

    def command(self, verb, *more, target=None):
        """The words of `edgegpu fsck` or `prune`."""
        return [lab.EDGEGPU, "--color", "never", verb, "--repo", target or self.target, *more]

    def document(self, name, status, verb, *more, **options):
        """What such a command prints with --json; {} if it ends with another status."""
        done = self.run(*self.command(verb, "--json", *more, **options))
        good = self.checks.check(name, done.returncode == status, f"exit status {done.returncode}: {done.stdout[-1500:]}{done.stderr[-1500:]}")
        return json.loads(done.stdout) if good else {}

    def is_whole(self, repo=None):
        """What ostree finds wrong with a copy of a repository, as it marks commits; empty for nothing."""
        copy = self.work / "looked-at"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(repo or self.target, copy, symlinks=True)
        # Which ostree needs, and uploads do not.
        for name in ("tmp", "state", "refs/remotes"):
            (copy / name).mkdir(exist_ok=True)
        done = self.run("ostree", "fsck", f"--repo={copy}", "--all")
        return "" if done.returncode == 0 else (done.stdout + done.stderr)[-800:]

    def promote(self, source, ref, *more, wrapper=(), repo=None):
        return self.run(lab.EDGEGPU, "--color", "never", "promote", source, "--to", ref, "--repo", repo or self.target, *more,
                        wrapper=wrapper)

    def good(self, name, *more, **options):
        """A run that has to succeed: its document."""
        done = self.publish("--json", *more, **options)
        self.checks.check(name, done.returncode == 0, done.stderr[-2000:])
        return json.loads(done.stdout) if done.returncode == 0 else {"refs": [{}]}

    def killed_at(self, number, *more, run=None):
        """A run, of publish or of what `run` calls with a wrapper, that is killed at its call of this number of those in
        STEPS; false if it has ended, well, before."""
        done = (run or self.publish)(*more, wrapper=("strace", "-f", "-q", "-o", "/dev/null", "-e", f"trace={STEPS}", "-e",
                                                     f"inject={STEPS}:signal=KILL:when={number}"))
        if done.returncode not in (0, -signal.SIGKILL):
            sys.exit(f"not ok a run that was to be killed at step {number} ended with {done.returncode}: {done.stderr[-1000:]}")
        return done.returncode != 0

    def refused(self, name, words, *more, status=1, **options):
        """A run that has to fail with these words, and to leave what clients see."""
        before = self.seen()
        done = self.publish(*more, **options)
        self.checks.check(f"{name}: refused", done.returncode == status and re.search(words, done.stderr), done.stderr[-2000:])
        self.checks.equal(f"{name}: nothing has changed for clients", self.seen(), before)

    def seen(self):
        """What a web server gives, but for objects that no ref reaches yet, which are added only."""
        files = {}
        for path in sorted(self.target.rglob("*")):
            name = str(path.relative_to(self.target))
            if path.is_file() and not name.startswith(("objects/", "edgegpu-locks/", "tmp/")):
                files[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        return files

    def times(self):
        """Of all files but those that are locked."""
        return {str(path.relative_to(self.target)): path.lstat().st_mtime_ns for path in self.target.rglob("*")
                if path.is_file() and path.suffix != ".lock"}

    def remote(self, client, summary=True):
        shutil.rmtree(client, ignore_errors=True)
        lab.run("ostree", "init", f"--repo={client}", "--mode=bare-user")
        lab.run("ostree", f"--repo={client}", "remote", "add", "--set=gpg-verify=true",
                f"--set=gpg-verify-summary={'true' if summary else 'false'}", f"--gpg-import={lab.LAB}/RPM-GPG-KEY-lab", "edge",
                f"http://127.0.0.1:{self.port}/repo")

    def pull(self, ref=REF, client=None):
        return subprocess.run(["ostree", f"--repo={client or self.client}", "pull", "--disable-fsync", "edge", ref], text=True, check=False,
                              env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def head(self, ref=REF, **options):
        """What a new device gets: the checksum, or an empty text; and what ostree says."""
        self.remote(self.client, **options)
        done = self.pull(ref)
        return lab.run("ostree", f"--repo={self.client}", "rev-parse", f"edge:{ref}").strip() if done.returncode == 0 else "", done.stdout

    def pulled(self, name, expected, ref=REF):
        """A new device pulls, with all signatures verified: it gets this commit, whole."""
        self.remote(self.client)
        done = self.pull(ref)
        got = lab.run("ostree", f"--repo={self.client}", "rev-parse", f"edge:{ref}").strip() if done.returncode == 0 else done.stdout
        self.checks.equal(name, got, expected)
        fsck = subprocess.run(["ostree", f"--repo={self.client}", "fsck", "-q"], check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        self.checks.check(f"{name}: whole", fsck.returncode == 0, fsck.stdout)
