"""What the integration tests of whole images share: paths, builds, checks, and the walk of a tree."""
import atexit
import hashlib
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import time
import tomllib

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests/support"))
import gnupg_agents  # noqa: E402
import user_namespace  # noqa: E402

LAB = SOURCE / "build/lab"
EDGEGPU = pathlib.Path(os.environ.get("EDGEGPU", SOURCE / "build/edgegpu"))
BLUEPRINT = SOURCE / "blueprints/lab-gpu.toml"
REF = "lab/12/x86_64/edge-gpu"
# Without LC_ALL and with a plain PATH, programs print the same everywhere; nothing is taken from this machine.
PLAIN = {**os.environ, "LC_ALL": "C.UTF-8", "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
         "EDGEGPU_HOST_ROOT": "/nonexistent"}
# The lab's packages keep their database here; programs of the host must be told.
DBPATH = "/usr/share/rpm"


def blueprint_text():
    """What BLUEPRINT says, for another directory than its own: paths are absolute."""
    text = BLUEPRINT.read_text()
    for prefix in ('"', '"oci:'):
        text = text.replace(prefix + "../", f"{prefix}{SOURCE}/").replace(prefix + "./", f"{prefix}{SOURCE}/blueprints/")
    return text


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


def need(*programs):
    """Skips the test unless it has the binary, the lab and these programs.

    From then on an ordinary user is root of a user namespace, as the tests look at the owners of files, mount
    and chroot.
    """
    user_namespace.enter()
    if not EDGEGPU.exists():
        skip(f"{EDGEGPU} is not built (scripts/build)")
    if not (LAB / "repos/baseos/repodata/repomd.xml").exists():
        skip("the lab is not made (tests/lab/make-lab)")
    for program in programs:
        if shutil.which(program, path=PLAIN["PATH"]) is None:
            skip(f"{program} is not installed")


# Of this test, with hundreds of megabytes each: removed if nothing has failed.
WORK_DIRECTORIES = []


def work_directory(name, fresh=True):
    """An empty directory for a test's files, kept afterwards for a look at what failed. GnuPG's agents of homes in it
    are gone when the test ends."""
    path = SOURCE / "build/tests" / name
    atexit.register(gnupg_agents.end_agents, path)
    if fresh and path.exists():
        shutil.rmtree(path)
    path.mkdir(parents=True, exist_ok=True)
    if fresh:
        WORK_DIRECTORIES.append(path)
    return path


def wait_for_another_time(file, resolution=2):
    """Until what is made now gets other time stamps than FILE, also where they count only RESOLUTION seconds (FAT: 2)."""
    written = file.stat().st_ctime // resolution
    while (left := (written + 1) * resolution - time.time()) > 0:
        time.sleep(left)


class Checks:
    """Prints one line a check; `finish` ends the test with its exit status."""

    def __init__(self):
        self.failed = 0
        self.passed = 0

    def check(self, name, good, detail=""):
        if good:
            self.passed += 1
            print("ok", name, flush=True)
        else:
            self.failed += 1
            print(f"not ok {name}: {detail}", flush=True)
        return bool(good)

    def equal(self, name, seen, expected):
        return self.check(name, seen == expected, f"expected {expected!r}, is {seen!r}")

    def finish(self):
        print(f"{self.passed} ok, {self.failed} not ok")
        if not self.failed:
            for path in WORK_DIRECTORIES:
                shutil.rmtree(path, ignore_errors=True)
        sys.exit(1 if self.failed or not self.passed else 0)


def run(*argv, **options):
    """Runs a program; its output is in the exception if it fails."""
    options.setdefault("env", PLAIN)
    options.setdefault("stderr", subprocess.PIPE)
    result = subprocess.run([str(a) for a in argv], text=True, stdout=subprocess.PIPE, check=False, **options)
    if result.returncode != 0:
        sys.exit(f"not ok {' '.join(map(str, argv[:4]))} …: exit status {result.returncode}\n"
                 f"{result.stdout[-3000:]}{(result.stderr or '')[-6000:]}")
    return result.stdout


def build(blueprint, repo, cache, lock, *more, wrapper=(), **options):
    """Runs `edgegpu build` and returns what it printed."""
    return run(*wrapper, EDGEGPU, "build", blueprint, "--repo", repo, "--cache-dir", cache, "--lock",
               lock, *more, **options)


def another_build(target):
    """A copy of the program with another build id, as a linker gives it to any other code."""
    content = bytearray(EDGEGPU.read_bytes())
    note = content.index(b"\x03\0\0\0GNU\0")  # NT_GNU_BUILD_ID; the id follows
    content[note + 8] ^= 0xFF
    target.write_bytes(content)
    target.chmod(0o755)
    return target


def shared_cache():
    """The demo's cache, so that a test does not unpack every package again."""
    return SOURCE / "build/demo/cache"


def read_lock(path):
    """The packages of a lockfile: list of tables."""
    with open(path, "rb") as file:
        return tomllib.load(file)["package"]


def nevra(package):
    epoch = f"{package['epoch']}:" if package["epoch"] else ""
    return f"{package['name']}-{epoch}{package['version']}-{package['release']}.{package['arch']}"


def checkout(repo, ref, target):
    """The commit with its owners, modes and extended attributes, as root sees it.

    Root of a user namespace may set labels only on a file system that was mounted there: for ordinary users
    the commit goes away with the test.
    """
    if os.path.ismount(target):
        run("umount", target)
    if target.exists():
        shutil.rmtree(target)
    if user_namespace.inside():
        target.mkdir()
        run("mount", "-t", "tmpfs", "-o", "mode=0755,size=5g", "edgegpu-test", target)
        run("ostree", f"--repo={repo}", "checkout", "--union", ref, target)
        return target
    run("ostree", f"--repo={repo}", "checkout", ref, target)
    return target


TYPES = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "link", stat.S_IFCHR: "character device",
         stat.S_IFBLK: "block device", stat.S_IFIFO: "fifo", stat.S_IFSOCK: "socket"}


def describe(path):
    """Everything the tests compare about one path."""
    status = os.lstat(path)
    kind = TYPES[stat.S_IFMT(status.st_mode)]
    facts = {"type": kind, "owner": f"{status.st_uid}:{status.st_gid}"}
    if kind == "link":
        facts["target"] = os.readlink(path)
        return facts
    facts["mode"] = f"{stat.S_IMODE(status.st_mode):04o}"
    if kind == "file":
        with open(path, "rb") as file:
            facts["content"] = hashlib.file_digest(file, "sha256").hexdigest()
        try:
            facts["capability"] = os.getxattr(path, "security.capability").hex()
        except OSError:
            pass
    return facts


def walk(root):
    """Absolute path in the tree → facts, of everything below `root`."""
    found = {"/": describe(root)}
    for directory, names, files in os.walk(root, followlinks=False):
        for name in names + files:
            path = os.path.join(directory, name)
            found["/" + os.path.relpath(path, root)] = describe(path)
    return found


LISTED = re.compile(r"(?P<type>.)(?P<mode>\d{5}) +(?P<uid>\d+) +(?P<gid>\d+) +(?P<size>\d+) "
                    r"(?P<object>[0-9a-f]{64}) (?:(?P<meta>[0-9a-f]{64}) )?"
                    r"\{ \[?(?P<xattrs>.*?)\]? \} (?P<path>/.*)$")


def listing(repo, ref):
    """Path → match of LISTED, from `ostree ls`: objects, modes and labels without a checkout."""
    entries = {}
    for line in run("ostree", f"--repo={repo}", "ls", "-RCX", ref).splitlines():
        match = LISTED.match(line)
        if match is None:
            sys.exit(f"not ok ostree ls: a line that nobody understands: {line}")
        path = match["path"]
        if match["type"] == "l":
            path = path.split(" -> ")[0]
        entries[path] = match
    return entries


def label_of(entry):
    found = re.search(r"\(b'security\.selinux', b'([^']*)'\)", entry["xattrs"])
    return found[1] if found else ""
