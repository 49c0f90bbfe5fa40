"""What every hostile package needs: a small distribution to attack, rpmbuild, canaries, and builds.

The distribution is one of its own, as small as edgegpu takes: busybox, a kernel of one file, and scripts that
stand for dracut and depmod, so that a build takes about a second. A package may bring them orders of its own
(/usr/lib/dracut/hostile, …), as it may replace the programs. Its repository is signed by a key made for it.
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field

HERE = pathlib.Path(os.path.realpath(__file__)).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "lab")]
import lab_image as lab  # noqa: E402
from labtool import rpm  # noqa: E402
from canaries import Canaries, Listener  # noqa: E402

NAMESPACE = lab.SOURCE / "tests/support/user_namespace.py"
KERNEL = "1-1.x86_64"
REPORTS = "/usr/share/hostile/reports"
HEADER = """\
Name: {name}
Version: 1
Release: 1
Summary: {name}
License: MIT
AutoReqProv: no
{more}
%description
Made for a test of edgegpu's boundary.
"""
SUBPACKAGE = """
%package -n {name}
Summary: {name}
AutoReqProv: no
Requires: hostile-base
%description -n {name}
Made for a test of edgegpu's boundary.
"""
DRACUT = """\
#!/bin/sh
for argument; do case $argument in */initramfs.img) out=$argument ;; esac; done
[ ! -f /usr/lib/dracut/hostile ] || . /usr/lib/dracut/hostile
[ -e "$out" ] || [ -L "$out" ] || cat /usr/lib/dracut/image >"$out"
"""
DEPMOD = """\
#!/bin/sh
for kernel; do :; done
[ ! -f /usr/lib/depmod.d/hostile ] || . /usr/lib/depmod.d/hostile
for index in dep dep.bin alias alias.bin symbols symbols.bin softdep devname builtin.bin; do
    : >"/usr/lib/modules/$kernel/modules.$index" || exit 1
done
"""
BLUEPRINT = """\
name = "image"
architecture = "x86_64"
accounts.login = "none"
[ostree]
ref = "hostile/{name}"
url = "http://127.0.0.1/repo"
remote = "edge"
[[repositories]]
id = "hostile"
baseurl = "{repository}"
gpgkey = "{key}"
"""
# A policy module of a blueprint's.
MODULE = "module hostile 1.0;\nrequire { type any_t; class file read; }\nallow any_t any_t:file read;\n"
# Programs that edgegpu runs or covers: the image has its own, or none.
NO_APPLETS = {"busybox", "depmod", "modprobe", "insmod", "rpm", "dpkg", "ldconfig", "sysctl", "setfiles", "restorecon",
              "load_policy", "setsebool"}
PASSWD = "root:x:0:0:root:/root:/bin/sh\napp:x:500:500::/:/bin/sh\n"
GROUP = "root:x:0:\napp:x:500:\n"


@dataclass
class Attack:
    """One package that tries one thing.

    `scripts` maps "pre", "post", "posttrans", "triggerin -- bash", … to a shell script. `payload(root)` puts files
    into the package and returns lines for %files. `report`: its scriptlet writes one, which must say "end" and
    nothing of an escape. `status`: "clean" (the build succeeds), "refused" (it ends with one error), or "either"
    where what a program was doing when it was ended decides (it swaps two names until then). Such an attack has both
    an `error`, of what was swapped, and a `check`, of a commit that holds what it would without the attack.
    An error matches `error` (by default it names the package). `check(result)` returns what is wrong, or None;
    so does `during(suite)`, which looks on while the image is built.
    Attacks that share `group` are in one image; the others have a build of their own.
    """
    name: str
    scripts: dict = field(default_factory=dict)
    payload: object = None
    header: str = ""
    report: bool = False
    status: str = "clean"
    error: str = ""
    check: object = None
    group: str = ""
    arguments: tuple = ()
    blueprint: str = ""
    timeout: int = 60
    beside: tuple = ()
    during: object = None


def holds(files, kinds=()):
    """A check of an attack that may end either way: the commit, if there is one, has these {path: text} and {path:
    (type letter, mode, uid, gid) or its beginning}."""
    def check(result):
        if result.status != 0:
            return None
        wrong = [path for path, text in files.items() if result.cat(path) != text]
        for path, kind in dict(kinds).items():
            if result.list(os.path.dirname(path)).get(path, ())[:len(kind)] != kind:
                wrong.append(path)
        return f"not in the commit as it was: {wrong}" if wrong else None
    return check


def refused(attacks, *names):
    """Demands of those attacks, which are all there, that their builds end with an error."""
    found = [attack for attack in attacks if attack.name.removeprefix("hostile-") in names]
    assert len(found) == len(names), names
    for attack in found:
        attack.status = "refused"


def reporting(name, *arguments, **more):
    """A package whose %post runs attack `name` and keeps what it says."""
    argument = shlex.join(arguments)
    return Attack(name, {"post": f"/usr/libexec/attack {argument or name} >{REPORTS}/{name} 2>&1 </dev/null\n:"},
                  report=True, status="clean", **more)


@dataclass
class Result:
    """How one build ended."""
    status: int
    stderr: str
    seconds: float
    repo: pathlib.Path
    ref: str

    def errors(self):
        return re.findall(r"^error: .*$", self.stderr, re.M)

    def cat(self, path):
        """A file of the commit, or None."""
        done = subprocess.run(["ostree", f"--repo={self.repo}", "cat", self.ref, path], capture_output=True, check=False)
        return done.stdout.decode(errors="surrogateescape") if done.returncode == 0 else None

    def list(self, path="/"):
        """{path: (type letter, mode, uid, gid)} of the commit."""
        done = subprocess.run(["ostree", f"--repo={self.repo}", "ls", "-R", self.ref, path], capture_output=True,
                              check=False)
        found = {}
        for line in done.stdout.decode(errors="surrogateescape").splitlines():
            match = re.match(r"(.)(\d{5}) +(\d+) +(\d+) +\d+ (/.*)$", line)
            if match:
                found[match[5].split(" -> ")[0]] = match.groups()[:4]
        return found


class Suite:
    def __init__(self, work):
        self.work = work
        self.canaries = Canaries()
        self.listener = Listener()
        self.cache = work / "cache"
        self.repo = work / "repo"
        self.logs = work / "logs"
        self.logs.mkdir()
        self.packages = work / "packages"
        self.packages.mkdir()
        self.lab = work / "lab"
        self.lab.mkdir()
        rpm.setup_signing(self.lab)
        # What blueprints of attacks bring themselves.
        (work / "hostile.te").write_text(MODULE)
        (work / "overlay/etc").mkdir(parents=True)
        (work / "overlay/etc/passwd").write_text("of the overlay\n")
        self.program = self.compile_attack()
        self.count = 0
        self.patience = 1
        self.scan = self.start_scan()

    def compile_attack(self):
        program = self.work / "attack"
        lab.run("gcc", "-std=gnu17", "-O1", "-Wall", "-Wextra", "-static", "-o", program,
                *sorted(HERE.glob("*.c")))
        return program

    # Packages

    def write_target(self):
        """Where the canaries are, but not what is in them."""
        handle = lab.run(self.program, "handle", self.canaries.place / "world").strip()
        place = self.canaries.place
        return (f"world {place}/world\nkey {place}/key\nopen {place}/open\nroot {place}/root\nfolder {place}/folder\n"
                f"port {self.listener.port}\nabstract {self.listener.abstract}\nhandle {handle}\n")

    def build_base(self):
        root = self.work / "base"
        for folder in ("usr/bin", "usr/sbin", "usr/lib/dracut", "usr/lib64", "usr/libexec", "etc", "var/lib", "var/cache",
                       "usr/share/hostile/reports", "usr/lib/tmpfiles.d", "proc", "dev", "run", "sys", "tmp", "var/tmp",
                       "root", "home", "srv", "opt", "mnt", "boot", "usr/local"):
            (root / folder).mkdir(parents=True)
        for link in ("bin", "sbin", "lib", "lib64"):
            (root / link).symlink_to(f"usr/{link}")
        deb = next((lab.LAB / "debs").glob("busybox-static_*.deb"))
        lab.run("dpkg-deb", "-x", deb, self.work / "busybox")
        shutil.copy(next((self.work / "busybox").rglob("bin/busybox")), root / "usr/bin/busybox")
        applets = lab.run(root / "usr/bin/busybox", "--list").split()
        for name in {*applets} - NO_APPLETS:
            (root / "usr/bin" / name).symlink_to("busybox")
        # A file, as on every other system: the sandbox lays its own over it.
        (root / "usr/bin/uname").unlink()
        shutil.copy(root / "usr/bin/busybox", root / "usr/bin/uname")
        for path, text in (("usr/bin/dracut", DRACUT), ("usr/sbin/depmod", DEPMOD)):
            (root / path).write_text(text)
            (root / path).chmod(0o755)
        shutil.copy(self.program, root / "usr/libexec/attack")
        shutil.copy(self.program, root / "usr/libexec/attack-setid")
        (root / "etc/passwd").write_text(PASSWD)
        (root / "etc/group").write_text(GROUP)
        (root / "usr/share/hostile/target").write_text(self.write_target())
        made = subprocess.run(["cpio", "-o", "-H", "newc", "--quiet"],
                              input=b"usr/lib/ostree/ostree-prepare-root\netc/modprobe.d/edgegpu.conf\n",
                              cwd=self.initramfs(), stdout=subprocess.PIPE, check=True)
        (root / "usr/lib/dracut/image").write_bytes(made.stdout)
        files = rpm.file_list(root, {"/usr/libexec/attack-setid": "%attr(4755,root,root)"})
        more = "Provides: /bin/sh\nProvides: /sbin/ldconfig\n"
        spec = HEADER.format(name="hostile-base", more=more) + "%files\n" + "\n".join(files) + "\n"
        rpm.build_spec(self.lab, spec, root, self.packages)
        kernel = self.work / "kernel"
        modules = kernel / f"usr/lib/modules/{KERNEL}"
        modules.mkdir(parents=True)
        (modules / "vmlinuz").write_text("a kernel\n")
        more = f"Provides: kernel-uname-r = {KERNEL}\nProvides: kernel = 1-1\nRequires: hostile-base\n"
        spec = HEADER.format(name="kernel-core", more=more) + "%files\n" + "\n".join(rpm.file_list(kernel)) + "\n"
        rpm.build_spec(self.lab, spec, kernel, self.packages)

    def initramfs(self):
        place = self.work / "initramfs"
        (place / "usr/lib/ostree").mkdir(parents=True)
        (place / "usr/lib/ostree/ostree-prepare-root").write_text("#!/bin/sh\n")
        (place / "etc/modprobe.d").mkdir(parents=True)
        (place / "etc/modprobe.d/edgegpu.conf").write_text("blacklist nouveau\n")
        return place

    def build_packages(self, attacks):
        """Those without files come from one spec, the others from a spec each."""
        spec = HEADER.format(name="hostile", more="")
        for attack in attacks:
            scripts = "".join(self.scriptlet(attack.name, kind, text) for kind, text in attack.scripts.items())
            if attack.payload is None and not attack.header:
                spec += SUBPACKAGE.format(name=attack.name) + scripts + f"%files -n {attack.name}\n"
                continue
            root = self.work / "payload" / attack.name
            root.mkdir(parents=True)
            files = attack.payload(root, self.canaries) if attack.payload else []
            text = HEADER.format(name=attack.name, more="Requires: hostile-base\n" + attack.header)
            rpm.build_spec(self.lab, text + scripts + "%files\n" + "\n".join(files) + "\n", root, self.packages)
        rpm.build_spec(self.lab, spec, self.work / "nothing", self.packages)
        rpm.sign(self.lab, self.packages.glob("*.rpm"))
        rpm.createrepo(self.lab, self.packages)

    def scriptlet(self, name, kind, text):
        kind, _, rest = kind.partition(" ")
        text = text.replace("@CANARIES@", str(self.canaries.place)).replace("@KERNEL@", KERNEL).replace("%", "%%")
        return f"%{kind} -n {name}{' ' + rest if rest else ''}\n{text}\n"

    # Builds

    def blueprint(self, name, packages, more=""):
        text = BLUEPRINT.format(name=name, repository=self.packages, key=self.lab / "RPM-GPG-KEY-lab")
        text += "".join(f'[[packages]]\nname = "{package}"\n' for package in ("hostile-base", *packages)) + more
        # No attack's name is in it: an error that names the blueprint alone does not name the package.
        self.count += 1
        path = self.work / f"image-{self.count}.toml"
        path.write_text(text)
        return path

    def build(self, name, packages, arguments=(), blueprint="", timeout=60):
        """One image; a build that hangs is ended, with status None."""
        more = blueprint.replace("@CANARIES@", str(self.canaries.place))
        argv = [str(a) for a in (lab.EDGEGPU, "build", self.blueprint(name, packages, more), "--repo", self.repo,
                                 "--cache-dir", self.cache, "--lock", self.work / "image.lock", *arguments)]
        environment = {**lab.PLAIN, "EDGEGPU_CANARY": self.canaries.tokens["environment"]}
        started = time.monotonic()
        with open(self.logs / f"{name}.out", "wb") as out, open(self.logs / f"{name}.err", "wb") as err:
            process = subprocess.Popen(argv, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                       start_new_session=True, cwd=self.work)
            try:
                status = process.wait(timeout * self.patience)
            except subprocess.TimeoutExpired:
                status = None
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        text = (self.logs / f"{name}.err").read_bytes().decode(errors="surrogateescape")
        return Result(status, text, time.monotonic() - started, self.repo, f"hostile/{name}")

    # What must hold afterwards

    def start_scan(self):
        """Looks at objects, the cache and logs; where the user's subordinate ids are mapped, root is the user."""
        scan = subprocess.Popen([NAMESPACE, sys.executable, HERE / "scan.py", self.repo, self.cache, self.logs], text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        scan.stdin.write(json.dumps({token: name for name, token in self.canaries.tokens.items()}) + "\n")
        return scan

    def look(self):
        """([file, canary] of what builds wrote since the last call, files that give an id of the builder's)."""
        self.scan.stdin.write("\n")
        self.scan.stdin.flush()
        leaks, setting = json.loads(self.scan.stdout.readline())
        return leaks, [path for path, owner in setting if owner == 0 and path.startswith(str(self.cache))]

    def mounts(self):
        text = pathlib.Path("/proc/self/mountinfo").read_text(errors="surrogateescape")
        return [line for line in text.splitlines() if str(self.work) in line]

    def close(self):
        self.canaries.remove()
        self.scan.stdin.close()
        self.scan.wait()
        clean(self.cache)


def clean(place):
    """Removes a directory in which images were built: rm takes trees of any depth."""
    subprocess.run([NAMESPACE, "rm", "-rf", str(place)], check=False)


def stragglers():
    """Processes of attacks that outlived their build: what is being ended has a moment to go."""
    for _ in range(20):
        found = list(attacking())
        if not found:
            break
        time.sleep(0.1)
    return found


def attacking():
    for place in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            line = (place / "cmdline").read_bytes()
        except OSError:
            continue
        if b"/usr/libexec/attack" in line or b"hostile-straggler" in line:
            yield f"{place.name}: {line.decode(errors='replace')}"
