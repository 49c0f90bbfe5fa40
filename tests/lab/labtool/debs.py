"""Find, download and unpack the Debian packages that the lab is made of.

Everything goes through the machine's own apt configuration and its signed package lists.
"""

import hashlib
import os
import pathlib
import re
import subprocess

from labtool.rpm import LabError, run

KERNEL_NAME = re.compile(r"linux-image-(6\.1\.0-(\d+)-amd64)$")


def empty_status(lab):
    """The path of dpkg's status file of a system on which nothing is installed."""
    path = pathlib.Path(lab) / "empty-status"
    if not path.exists():  # apt compares its time with its cache's
        path.write_text("", encoding="ascii")
    return path


def _options(lab):
    """apt's options for a system on which nothing is installed.

    With a cache of the lab's own, apt reads the package lists once and not in each call.
    """
    empty, cache = empty_status(lab), pathlib.Path(lab) / "apt" / "cache"
    (cache / "archives/partial").mkdir(parents=True, exist_ok=True)
    return ["-o", f"Dir::State::status={empty}", "-o", f"Dir::State::extended_states={empty}",
            "-o", f"Dir::Cache={cache}", "-o", "Dir::Cache::pkgcache=pkgcache.bin",
            "-o", "Dir::Cache::srcpkgcache=srcpkgcache.bin", "-o", "APT::Install-Recommends=false",
            "-o", "APT::Sandbox::User=root"]


def kernels(lab):
    """The release strings (uname -r) of the oldest and the newest kernel apt offers."""
    names = run(lab, ["apt-cache", *_options(lab), "pkgnames", "linux-image-6.1.0-"]).split()
    found = sorted((int(m[2]), m[1]) for m in map(KERNEL_NAME.fullmatch, names) if m)
    wanted = [f"linux-{kind}-{k}" for _, k in found for kind in ("image", "headers")]
    have = _with_candidate(lab, wanted)
    offered = [k for _, k in found if {f"linux-image-{k}", f"linux-headers-{k}"} <= have]
    if len(offered) < 2:
        raise LabError(f"apt offers {len(offered)} kernels of the 6.1.0 series, the lab needs 2; "
                       "run `apt-get update`")
    return offered[0], offered[-1]


def _with_candidate(lab, names):
    """Those of `names` that apt could download."""
    done = subprocess.run(["apt-cache", *_options(lab), "show", "--no-all-versions", *names],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return set(re.findall(r"^Package: (\S+)", done.stdout, flags=re.M))


def lists_digest(lab):
    """What apt's package lists are: names, sizes and times. Much quicker than asking apt."""
    out = run(lab, ["apt-config", "shell", "LISTS", "Dir::State::lists/d"])
    match = re.search(r"LISTS='([^']*)'", out)
    sum_ = hashlib.sha256()
    if match:
        for path in sorted(pathlib.Path(match[1]).glob("*_*")):
            about = path.stat()
            sum_.update(f"{path.name} {about.st_size} {about.st_mtime_ns}\n".encode())
    return sum_.hexdigest()


def resolve(lab, seeds, extra=()):
    """The closure of `seeds` as a sorted list of (name, version)."""
    out = run(lab, ["apt-get", *_options(lab), "-q", "-y", "--print-uris", "install", *seeds, *extra])
    # 'URI' NAME_VERSION_ARCHITECTURE.deb SIZE DIGEST
    found = [(name, version.replace("%3a", ":")) for name, version in
             re.findall(r"^'[^']*' ([^\s_]+)_([^\s_]+)_\w+\.deb ", out, flags=re.M)]
    if not found:
        raise LabError("apt resolved the lab's seeds to nothing:\n" + out[-2000:])
    return sorted(set(found))


def candidates(lab, names):
    """The newest version that apt offers of each of `names`, as a sorted list of (name, version)."""
    shown = run(lab, ["apt-cache", *_options(lab), "show", "--no-all-versions", *names])
    found = {}
    for stanza in shown.split("\n\n"):
        fields = dict(re.findall(r"^(Package|Version): (\S+)$", stanza, flags=re.M))
        if "Package" in fields:
            found[fields["Package"]] = fields["Version"]
    absent = sorted(set(names) - set(found))
    if absent:
        raise LabError("apt offers no package " + ", ".join(absent))
    return sorted(found.items())


def file_name(folder, name, version):
    """The path of a downloaded package, or None."""
    stem = f"{name}_{version.replace(':', '%3a')}_"
    for arch in ("amd64", "all"):
        path = pathlib.Path(folder) / f"{stem}{arch}.deb"
        if path.exists():
            return path
    return None


def download(lab, folder, packages):
    """Fetches what is not yet in `folder`; returns {name: path}."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    missing = [f"{n}={v}" for n, v in packages if not file_name(folder, n, v)]
    if missing:
        run(lab, ["apt-get", *_options(lab), "-q", "download", *missing], cwd=folder)
    paths = {n: file_name(folder, n, v) for n, v in packages}
    absent = sorted(n for n, p in paths.items() if p is None)
    if absent:
        raise LabError("apt-get download did not leave a file for: " + ", ".join(absent))
    return paths


def digest(packages, files, root):
    """What the lab is made from: package versions, and the given files with their names below `root`."""
    sum_ = hashlib.sha256()
    for name, version in packages:
        sum_.update(f"{name}={version}\n".encode())
    for path in sorted(files):
        name = path.relative_to(root) if path.is_relative_to(root) else path.name
        sum_.update(f"{name} {path.stat().st_mode & 0o111}\n".encode() + path.read_bytes())
    return sum_.hexdigest()


def control(path):
    """The control fields of a .deb as a dictionary (long descriptions unfolded)."""
    text = subprocess.run(["dpkg-deb", "-f", path], stdout=subprocess.PIPE, text=True,
                          check=True, env={**os.environ, "LC_ALL": "C.UTF-8"}).stdout
    fields, key = {}, None
    for line in text.splitlines():
        if line[:1] in " \t":
            fields[key] += "\n" + line.strip()
        elif ":" in line:
            key, value = line.split(":", 1)
            fields[key] = value.strip()
    return fields


def conffiles(lab, path):
    """The configuration files of a .deb (absolute paths)."""
    listing = subprocess.run(["dpkg-deb", "-I", str(path), "conffiles"], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True, check=False).stdout
    return [w for w in listing.split() if w.startswith("/")]


def unpack(lab, path, tree):
    """Extracts a .deb's files into the directory `tree`."""
    pathlib.Path(tree).mkdir(parents=True, exist_ok=True)
    run(lab, ["dpkg-deb", "-x", path, tree])
