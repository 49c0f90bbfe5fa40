"""Build roots and specs of the driver packages, the container toolkit and what they require."""

import os
import subprocess

from . import catalog, modprobe, open_modules, stage

OPEN_STANDIN = {
    "OPEN_SUMMARY": "Stand-in for NVIDIA's open DKMS sources for edgegpu's lab",
    "OPEN_DESCRIPTION": "Stand-in for NVIDIA's open DKMS module sources for edgegpu's lab.",
    "OPEN_LICENSE": "Apache-2.0",
    "OPEN_FILES": "",
}
OPEN_REAL = {
    "OPEN_SUMMARY": "NVIDIA's open kernel module sources for DKMS, from Debian's package",
    "OPEN_DESCRIPTION": "The real sources of NVIDIA's open GPU kernel modules (MIT and GPL-2.0), as Debian's nvidia-open-kernel-dkms\n"
    "has them, for edgegpu's lab: without debug information, with a dkms.conf as in NVIDIA's own package.",
    "OPEN_LICENSE": "MIT AND GPL-2.0-only",
    "OPEN_FILES": "%license /usr/share/licenses/kmod-nvidia-open-dkms/copyright",
}

PRE_USERADD = """\
getent group nvidia-persistenced >/dev/null || groupadd -r nvidia-persistenced
getent passwd nvidia-persistenced >/dev/null || \\
  useradd -r -g nvidia-persistenced -d /var/run/nvidia-persistenced -s /sbin/nologin \\
    -c "NVIDIA persistent software state" nvidia-persistenced
exit 0"""

PRE_SYSUSERS = """\
# What %%sysusers_create_package expands to: the user must be there before the payload that belongs to it.
systemd-sysusers --replace=/usr/lib/sysusers.d/nvidia-persistenced.conf - <<'SYSUSERS_EOF'
u nvidia-persistenced - "NVIDIA Persistence Daemon" /var/run/nvidia-persistenced /sbin/nologin
SYSUSERS_EOF"""


def compile_c(source, output, top, flags):
    """Compiles one C file of sources/elf; no build path and no build-id ends up in the result."""
    stage.make_directory(output.parent, top)
    path = stage.SOURCES / "elf" / source
    subprocess.run(
        ["gcc", "-O2", "-s", "-Wl,--build-id=none", f"-ffile-prefix-map={path.parent}=.", *flags, "-o", output, path],
        check=True,
        stdin=subprocess.DEVNULL,
    )
    output.chmod(0o755)


def add_libraries(root, libraries, version):
    """Makes shared objects and their soname links in usr/lib64; returns (%files lines, Provides lines)."""
    folder = root / "usr/lib64"
    stage.make_directory(folder, root)
    files, provides = [], []
    for name, soname in libraries:
        soname = soname.replace("V", version) if soname.endswith(".V") else soname
        real = f"{name}.{version}"
        compile_c("library.c", folder / real, root, ["-shared", "-fPIC", "-nostdlib", f"-Wl,-soname,{soname}"])
        files.append(f"/usr/lib64/{real}")
        if soname != real:
            os.symlink(real, folder / soname)
            files.append(f"/usr/lib64/{soname}")
        provides.append(f"Provides: {soname}()(64bit)")
    return files, provides


def driver_package(version, modules, loader, root):
    """Fills `root` for all driver packages of one version; returns the spec.

    `modules` are the real open modules (open_modules.OpenModules) or None; other versions have a stand-in. `loader` is the real
    nvidia-modprobe (modprobe.find), which all versions have, or None.
    """
    branch = version.split(".")[0]
    sysusers = int(branch) >= catalog.FIRST_BRANCH_WITH_SYSUSERS
    values = {
        "VERSION": version,
        "BRANCH": branch,
        "PERSISTENCED_PRE": PRE_SYSUSERS if sysusers else PRE_USERADD,
        "PERSISTENCED_FILES": "/usr/lib/sysusers.d/nvidia-persistenced.conf" if sysusers else "",
        "PERSISTENCED_REQUIRES": "Requires(pre): "
        + ("/usr/bin/systemd-sysusers" if sysusers else "/usr/sbin/useradd, /usr/sbin/groupadd"),
    }
    stage.expand_sources("driver", root, values)
    if sysusers:
        stage.expand_sources("driver-sysusers", root, values)
    for package, libraries in catalog.LIBRARIES.items():
        files, provides = add_libraries(root, libraries, version)
        values[f"FILES_{package}"] = "\n".join(files)
        values[f"PROVIDES_{package}"] = "\n".join(provides)
    for link in catalog.DEVEL_LINKS:
        soname = next(s for group in catalog.LIBRARIES.values() for n, s in group if n == link)
        os.symlink(soname, root / "usr/lib64" / link)
    values["FILES_devel"] = "\n".join(f"/usr/lib64/{link}" for link in catalog.DEVEL_LINKS)
    if loader:
        values.update(modprobe.unpack(loader, root))
    else:
        values.update(modprobe.STANDIN)
        compile_c("nvidia-modprobe.c", root / "usr/bin/nvidia-modprobe", root, [])
    real = modules is not None and modules.version == version
    values.update(OPEN_REAL if real else OPEN_STANDIN)
    if real:
        open_modules.unpack(modules, root)
    for name in ("nvidia",) if real else ("nvidia", "nvidia-open"):
        target = root / "usr/src" / f"{name}-{version}"
        for source in ("kmod", "dkms"):
            stage.expand_sources(source, target, dict(values, DKMS_NAME=name))
        for folder in (root / "usr/src", target):
            folder.chmod(0o755)
    return stage.read_spec("nvidia-driver", values)


def toolkit_package(version, root):
    """Fills `root` for the container toolkit of one version; returns the spec."""
    values = {"VERSION": version}
    stage.expand_sources("toolkit", root, values)
    add_libraries(root, [("libnvidia-container.so", "libnvidia-container.so.1")], version)
    return stage.read_spec("nvidia-container-toolkit", values)


def plain_package(spec, source, root):
    """Fills `root` from sources/SOURCE alone; returns the spec."""
    stage.expand_sources(source, root, {})
    return stage.read_spec(spec, {})
