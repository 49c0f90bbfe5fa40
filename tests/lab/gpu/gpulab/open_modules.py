"""NVIDIA's real open kernel modules: Debian packages them in the archive's component `contrib`."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from labtool import component, convert, debs, rpm

from . import stage

COMPONENT = "contrib"
PACKAGE = "nvidia-open-kernel-dkms"
# Parts that come compiled from the operating-system independent sources.
COMPILED = ("nvidia/nv-kernel.o_binary", "nvidia-modeset/nv-modeset-kernel.o_binary")


class OpenModules:
    """Driver `version` (no epoch, no revision) whose real open modules are in the package `deb`."""

    def __init__(self, version, deb):
        self.version, self.deb = version, pathlib.Path(deb)


def find(lab):
    """The archive's open modules, downloaded; None, with a line that says why, where there are none.

    What was found is kept in LAB/open-modules.json for as long as apt's lists stay the same.
    """
    record, lists = lab / "open-modules.json", debs.lists_digest(lab)
    known = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    if known.get("lists") == lists and (lab / "debs" / known["deb"]).exists():
        return OpenModules(known["version"], lab / "debs" / known["deb"])
    try:
        component.update(lab, COMPONENT)
        version, path = component.fetch(lab, COMPONENT, PACKAGE, lab / "debs")
    except rpm.LabError as error:
        reason = str(error).strip().splitlines()
        print(f"lab: no {PACKAGE} of {COMPONENT} ({reason[0]}): kmod-nvidia-open-dkms stays a stand-in", file=sys.stderr)
        return None
    upstream = convert.split_version(version)[1]
    rpm.write_atomic(record, json.dumps({"lists": lists, "version": upstream, "deb": path.name}, indent=2) + "\n")
    return OpenModules(upstream, path)


def unpack(modules, root):
    """Puts the sources into `root`/usr/src/nvidia-open-VERSION and their licence where RPM packages have it."""
    with tempfile.TemporaryDirectory(prefix="open-", dir=root.parent) as scratch:
        subprocess.run(["dpkg-deb", "-x", modules.deb, scratch], check=True)
        found = sorted(pathlib.Path(scratch, "usr/src").glob("nvidia-*"))
        if len(found) != 1:
            raise RuntimeError(f"{modules.deb.name}: {len(found)} source directories in /usr/src, expected one")
        target = root / "usr/src" / f"nvidia-open-{modules.version}"
        stage.make_directory(target.parent, root)
        shutil.move(found[0], target)
        licence = pathlib.Path(scratch, "usr/share/doc", PACKAGE, "copyright")
        stage.write_file(root / "usr/share/licenses/kmod-nvidia-open-dkms/copyright", licence.read_bytes(), root)
    # Nine tenths of them are debug information, which no module keeps when it is installed.
    compiled = [target / name for name in COMPILED if (target / name).exists()]
    subprocess.run(["strip", "--strip-debug", "--enable-deterministic-archives", *compiled], check=True)
    stage.expand_sources("dkms-open", target, {"VERSION": modules.version})
