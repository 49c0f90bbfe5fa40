"""nvidia-modprobe: NVIDIA's own program (GPL-2.0) as Debian packages it; a stand-in where apt cannot fetch that."""

import pathlib
import subprocess
import tempfile

from . import contrib, stage

PACKAGE = "nvidia-modprobe"

REAL = {
    "MODPROBE_SUMMARY": "NVIDIA's setuid module loader, from Debian's package",
    "MODPROBE_DESCRIPTION": "The real program (GPL-2.0) of version @FOUND@ as Debian packages it, for edgegpu's lab; setuid root.",
    "MODPROBE_LICENSE": "GPL-2.0-only",
    "MODPROBE_FILES": "%license /usr/share/licenses/nvidia-modprobe/copyright",
}
STANDIN = {
    "MODPROBE_SUMMARY": "Stand-in for NVIDIA's setuid module loader for edgegpu's lab",
    "MODPROBE_DESCRIPTION": "Stand-in for nvidia-modprobe for edgegpu's lab, setuid root as the real one is: it loads the modules and\n"
    "makes the device nodes.",
    "MODPROBE_LICENSE": "Apache-2.0",
    "MODPROBE_FILES": "",
}


def find(lab):
    """(version, path of the .deb), or None."""
    return contrib.find(lab, PACKAGE, "nvidia-modprobe.json", "a stand-in takes its place")


def unpack(found, root):
    """Puts the program and its licence into `root`; returns the spec's values."""
    version, deb = found
    with tempfile.TemporaryDirectory(prefix="modprobe-", dir=root.parent) as scratch:
        subprocess.run(["dpkg-deb", "-x", deb, scratch], check=True)
        program = pathlib.Path(scratch, "usr/bin/nvidia-modprobe")
        licence = pathlib.Path(scratch, "usr/share/doc", PACKAGE, "copyright")
        stage.write_file(root / "usr/bin/nvidia-modprobe", program.read_bytes(), root, True)
        stage.write_file(root / "usr/share/licenses/nvidia-modprobe/copyright", licence.read_bytes(), root)
    return {key: value.replace("@FOUND@", version) for key, value in REAL.items()}
