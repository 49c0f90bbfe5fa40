"""NVIDIA's real open kernel modules: Debian packages them in the archive's component `contrib`."""

import pathlib
import shutil
import subprocess
import tempfile

from . import contrib, stage

PACKAGE = "nvidia-open-kernel-dkms"
# Parts that come compiled from the operating-system independent sources.
COMPILED = ("nvidia/nv-kernel.o_binary", "nvidia-modeset/nv-modeset-kernel.o_binary")


class OpenModules:
    """Driver `version` (no epoch, no revision) whose real open modules are in the package `deb`."""

    def __init__(self, version, deb):
        self.version, self.deb = version, pathlib.Path(deb)


def find(lab):
    """The archive's open modules, downloaded; None, with a line that says why, where there are none."""
    found = contrib.find(lab, PACKAGE, "open-modules.json", "kmod-nvidia-open-dkms stays a stand-in")
    return OpenModules(*found) if found else None


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
