"""Devices that follow a ref with edgegpu-update, and what they pull from: for update_test. Deployments, pulls and signatures
are libostree's; of systemd there is a stand-in, which writes down that a restart was asked for, and the clock is a file."""
import http.server
import json
import pathlib
import shutil
import tempfile
import threading

import jsonschema

import lab_image as lab
from kernel_arguments_device import IN_NAMESPACE, SOURCE, STAND_IN, SYNC, Device, check, counts, fill, run

REF = "lab/edge"
SCHEMA = jsonschema.Draft7Validator(json.loads((SOURCE / "docs/schemas/update-report.json").read_text()))
DEVICE = SOURCE / "src/customise/device"
START = 1_800_000_000  # a Friday, 08:00 UTC
SYSTEMCTL = """#!/bin/sh
case "$*" in
    reboot) echo reboot >>/run/asked ;;
    'is-active --quiet ostree-finalize-staged.service') [ -e /run/ostree/staged-deployment ] ;;
    'is-active --quiet boot-complete.target') [ -e /run/green ] ;;
    'is-active greenboot-healthcheck.service' | 'is-active edgegpu-gpu-health.service') cat /run/greenboot 2>/dev/null || echo activating ;;
    'is-enabled --quiet greenboot-healthcheck.service' | 'is-enabled --quiet edgegpu-gpu-health.service') ;;
    is-system-running) echo running ;;
    *) echo "systemctl $*" >>/run/unknown; exit 1 ;;
esac
"""
DATE = """#!/bin/sh
[ "$*" != +%s ] || exec cat /run/clock
exec /usr/bin/date "$@"
"""
REMOTE = """[remote "edge"]
url={url}/repo
gpg-verify=true
gpgkeypath=/etc/pki/edgegpu/edge.gpg
"""


class Server:
    """The repository over HTTP, a lock manager that speaks FleetLock, and a collector of reports."""

    def __init__(self, work):
        self.work, self.repo, self.asked, self.reports, self.locked = work, work / "repo", [], [], []
        self.lock_status, self.broken, self.stalls, self.time = 200, {}, 0, START - 100_000
        run("ostree", "init", f"--repo={self.repo}", "--mode=archive")
        outer = self

        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *words, **options):
                super().__init__(*words, directory=str(outer.work), **options)

            def log_message(self, *words):
                pass

            def do_GET(self):
                outer.asked.append(self.path)
                for part, answer in list(outer.broken.items()):
                    if part in self.path:
                        if callable(answer):
                            answer()
                        elif isinstance(answer, int):
                            self.send_error(answer)
                            return
                        else:
                            self.send_response(200)
                            self.send_header("Content-Length", str(len(answer)))
                            self.end_headers()
                            self.wfile.write(answer)
                            return
                super().do_GET()

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = 200
                if self.path.startswith("/v1/"):
                    document = json.loads(body)["client_params"]
                    outer.locked.append((self.path[4:], document["group"], document["id"], self.headers["fleet-lock-protocol"]))
                    status = outer.lock_status
                else:
                    outer.reports.append(json.loads(body))
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.handle_error = lambda *_: None  # clients that go away
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def commit(self, version, settings, kernel="6.1", later=1000, greenboot=False, key=True, ref=REF):
        """A new version of the image: the commit."""
        tree = pathlib.Path(tempfile.mkdtemp(dir=self.work)) / "tree"
        for directory in ("usr/lib/modules/6.1", "usr/etc/ostree/remotes.d", "usr/etc/pki/edgegpu", "usr/lib/edgegpu",
                          "usr/bin", "usr/libexec/edgegpu", "usr/share/zoneinfo/Europe", "usr/lib/systemd/system", "boot",
                          "sysroot", "dev", "proc", "run", "sys", "tmp", "var"):
            (tree / directory).mkdir(parents=True)
        for name in ("vmlinuz", "initramfs.img"):
            (tree / "usr/lib/modules/6.1" / name).write_text(name + kernel)
        for name in ("bin", "sbin", "lib", "lib64"):
            (tree / name).symlink_to(f"usr/{name}")
        (tree / "ostree").symlink_to("sysroot/ostree")
        (tree / "usr/lib/os-release").write_text("ID=lab\nPRETTY_NAME=lab\n")
        (tree / "usr/share/zoneinfo/Europe/Berlin").touch()
        (tree / "usr/share/version").write_text(version)
        if greenboot:
            (tree / "usr/lib/systemd/system" / (greenboot if greenboot is not True else "greenboot-healthcheck.service")).touch()
        shutil.copy(DEVICE / "edgegpu-update", tree / "usr/bin")
        shutil.copytree(DEVICE / "update", tree / "usr/libexec/edgegpu/update")
        (tree / "usr/lib/edgegpu/update.conf").write_text(f"built={START - 100_000}\n" + settings.replace("URL", self.url))
        (tree / "usr/etc/ostree/remotes.d/edge.conf").write_text(REMOTE.format(url=self.url))
        (tree / "usr/etc/machine-id").write_text(f"{len(settings):032x}\n")
        lab.run("gpg", "--homedir", lab.LAB / "gnupg", "--batch", "--output", tree / "usr/etc/pki/edgegpu/edge.gpg", "--export",
                "lab@example.invalid")
        self.time += later
        signed = ("--gpg-sign=lab@example.invalid", f"--gpg-homedir={lab.LAB}/gnupg") if key else ()
        run("ostree", f"--repo={self.repo}", "commit", "--owner-uid=0", "--owner-gid=0", f"--branch={ref}",
            f"--timestamp=@{self.time}", f"--add-metadata-string=version={version}", f"--bind-ref={ref}", *signed,
            f"--tree=dir={tree}")
        shutil.rmtree(tree.parent)
        run("ostree", f"--repo={self.repo}", "summary", "-u")
        return run("ostree", f"--repo={self.repo}", "rev-parse", ref).strip()


class UpdatingDevice(Device):
    """One that was installed with the commit that the server has now."""

    def __init__(self, server, rpm_ostree=False):
        self.server, self.rpm_ostree = server, rpm_ostree
        self.root = pathlib.Path(tempfile.mkdtemp(dir=server.work))
        self.sysroot, self.run, self.bin = self.root / "sysroot", self.root / "run", self.root / "bin"
        self.sysroot.mkdir()
        run("ostree", "admin", "init-fs", self.sysroot)
        run("ostree", "admin", f"--sysroot={self.sysroot}", "os-init", "lab")
        run("ostree", f"--repo={self.sysroot}/ostree/repo", "pull-local", "--remote=edge", server.repo, REF)
        run("ostree", "admin", f"--sysroot={self.sysroot}", "deploy", "--os=lab", f"edge:{REF}")
        self.var = self.sysroot / "ostree/deploy/lab/var"
        self.bin.mkdir()
        if rpm_ostree:  # and, as on Enterprise Linux, bash for sh; the others have dash
            shutil.copy(STAND_IN, self.bin / "rpm-ostree")
            (self.bin / "sh").symlink_to("/usr/bin/bash")
        for name, text in (("sync", SYNC), ("systemctl", SYSTEMCTL), ("date", DATE)):
            self.program(name, text)
        self.now, self.uptime, self.prefix = START, 0, ()
        self.boot()

    def boot(self, entry=0):
        super().boot(entry)
        self.uptime = 60

    def put_gpus(self, *numbers):
        """These PCI device numbers; and a network card, an audio function and a GPU of another vendor."""
        devices = [("10de", "030200", number) for number in numbers]
        devices += [("10de", "020000", "1db4"), ("8086", "030000", "1db4"), ("10de", "040300", "1db4")]
        words = "".join(f"mkdir -p $d/{at}; echo 0x{vendor} >$d/{at}/vendor; echo 0x{kind} >$d/{at}/class; echo 0x{number} >$d/{at}/device; "
                        for at, (vendor, kind, number) in enumerate(devices))
        self.prefix = ("sh", "-c", f'd=/tmp/d/sys/bus/pci/devices; {words}exec "$@"', "sh")

    def start(self, syncs=0, mode="boot"):
        """Nothing of what else an image starts."""
        return ""

    def wait(self, seconds):
        self.now += seconds
        self.uptime += seconds
        return self

    def update(self, *words, syncs=0, status=0):
        """What edgegpu-update says; of the timer, if there are no words. With `syncs` the power fails at that call of sync."""
        (self.run / "clock").write_text(f"{self.now}\n")
        (self.run / "uptime").write_text(f"{self.uptime}.25 99.50\n")
        (self.run / "syncs").write_text(str(syncs))
        # One that waits for what never comes fails here, and does not keep the test.
        result = self.inside("sh", "-c", 'mkdir /tmp/d/proc && cp /run/uptime /tmp/d/proc && exec timeout 300 "$@"', "sh", *self.prefix,
                             "sh", "/tmp/d/usr/bin/edgegpu-update", *(words or ("run",)))
        unknown = self.run / "unknown"
        if not syncs and result.returncode != status or unknown.exists():
            check(f"edgegpu-update {words} has status {status}", False, f"{result.returncode} {result.stdout}"
                  f"{unknown.read_text() if unknown.exists() else ''}")
        if (self.var / "lib/edgegpu/update/report.json").exists():
            wrong = [error.message for error in SCHEMA.iter_errors(self.report())]
            if wrong:
                check("the report satisfies docs/schemas/update-report.json", False, wrong)
        return result.stdout

    def asked_to_restart(self):
        return (self.run / "asked").exists()

    def facts(self):
        file = self.var / "lib/edgegpu/update/facts"
        return dict(line.split("=", 1) for line in file.read_text(errors="replace").splitlines() if "=" in line) if file.exists() else {}

    def report(self):
        return json.loads((self.var / "lib/edgegpu/update/report.json").read_text())

    def state(self):
        return self.facts().get("state")

    def configure(self, text):
        """Of the device, in its /etc."""
        path = self.deployment / "etc/edgegpu/update.conf"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def settle(self, rounds=12, seconds=300):
        """Minutes and restarts until nothing happens any more: what was said."""
        said = ""
        for _ in range(rounds):
            said += self.wait(seconds).update()
            if self.asked_to_restart():
                self.reboot()
        return said
