"""Reads what the rest of the lab made: the kernels and the key; and digests all inputs."""

import hashlib
import json
import pathlib
import re
import shutil
import subprocess

from . import stage


class Kernel:
    """One kernel of the lab: `uname`, `evr` (version-release of its package), and its `headers` and `common` headers."""

    def __init__(self, record, dist, lab):
        self.uname = record["uname"]
        # Packages provide "kernel = version-release"; an epoch has no place in a package's name.
        self.evr = record["evr"].split(":", 1)[-1]
        self.name_part = self.evr[: -len(dist)] if dist and self.evr.endswith(dist) else self.evr
        self.headers, self.common = find_headers(lab, record.get("devel", ""), self.uname)


def header_directories(root, uname):
    """Where the per-flavour and the common headers of kernel `uname` lie below `root`, as Debian packages them."""
    common = re.sub(r"-[a-z0-9]+$", "-common", uname)
    return root / "usr/src" / f"linux-headers-{uname}", root / "usr/src" / f"linux-headers-{common}"


def find_headers(lab, devel, uname):
    """The header directories of `uname`: below `devel`, or extracted from the lab's .debs when `devel` is no such tree."""
    root = lab / devel
    found = header_directories(root, uname)
    if devel and all((d / "Makefile").is_file() for d in found):
        return found
    root = lab / "gpu.work" / "devel" / uname
    found = header_directories(root, uname)
    if all((d / "Makefile").is_file() for d in found):
        return found
    part = root.with_name(uname + ".part")
    shutil.rmtree(part, ignore_errors=True)
    series = ".".join(uname.split(".")[:2])
    for package in (found[0].name, found[1].name, f"linux-kbuild-{series}"):
        debs = sorted((lab / "debs").glob(f"{package}_*.deb"))
        if not debs:
            raise FileNotFoundError(f"kernel {uname}: neither {lab / devel} nor a {package} package in {lab / 'debs'}")
        part.mkdir(parents=True, exist_ok=True)
        subprocess.run(["dpkg-deb", "-x", debs[-1], part], check=True)
    shutil.rmtree(root, ignore_errors=True)
    part.rename(root)
    return found


def read_dist(lab):
    """The lab's %dist, from its rpmmacros."""
    for line in (lab / "rpmmacros").read_text(encoding="utf-8").splitlines():
        if line.startswith("%dist "):
            return line.split(None, 1)[1].strip()
    return ""


def read_oldest_kernel(lab, dist):
    """The kernel for which precompiled modules are made: the lab's oldest."""
    records = json.loads((lab / "kernels.json").read_text(encoding="utf-8"))
    return Kernel(records["oldest"], dist, lab)


def digest_inputs(lab, kernel, debs):
    """SHA-256 over everything that decides the content of the repositories; `debs` are the archive's packages in them."""
    digest = hashlib.sha256()
    files = [p for p in stage.HERE.rglob("*") if p.is_file() and "__pycache__" not in p.parts and p.suffix != ".md"]
    files += [stage.HERE.parent / "labtool" / "rpm.py", lab / "RPM-GPG-KEY-lab", lab / "RPM-GPG-KEY-lab-nvidia", lab / "rpmmacros"]
    files += [kernel.headers / ".config", kernel.headers / "Module.symvers"]
    for file in sorted(files):
        name = file.relative_to(stage.HERE) if file.is_relative_to(stage.HERE) else file.name
        digest.update(f"{name}\0{file.stat().st_mode & 0o111}\0".encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    digest.update(f"{kernel.uname}\0{kernel.evr}\0{' '.join(deb.name for deb in debs)}".encode())
    return digest.hexdigest()
