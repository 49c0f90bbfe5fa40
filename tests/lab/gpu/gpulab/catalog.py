"""What the lab's `nvidia` repository offers: versions, streams, profiles."""

# Branch -> driver versions, oldest first.
DRIVERS = {
    "525": ["525.147.05"],
    "535": ["535.247.01", "535.261.03"],
    "550": ["550.163.01"],
}
LATEST_BRANCH = "550"
DEFAULT_STREAM = "open-dkms"
TOOLKITS = ["1.16.2", "1.17.8"]

EPOCH = 3

# From here on the user of nvidia-persistenced comes from sysusers.d instead of a useradd in %pre.
FIRST_BRANCH_WITH_SYSUSERS = 535

# Branches whose precompiled modules are missing from their stream's artifacts, as NVIDIA's script leaves them out at times: the
# repository then holds them as bare packages.
KMODS_NOT_IN_ARTIFACTS = {"525"}

KERNEL_MODULES = ["nvidia", "nvidia-modeset", "nvidia-drm", "nvidia-uvm", "nvidia-peermem"]

NOARCH = {"nvidia-kmod-common"}

# What each profile installs; "default" has cuda-drivers besides, "fm" has the NVSwitch packages on top of that.
DRIVER_PACKAGES = [
    "nvidia-driver",
    "nvidia-driver-libs",
    "nvidia-driver-cuda",
    "nvidia-driver-cuda-libs",
    "nvidia-driver-NVML",
    "nvidia-driver-NvFBCOpenGL",
    "nvidia-driver-devel",
    "nvidia-kmod-common",
    "nvidia-libXNVCtrl",
    "nvidia-modprobe",
    "nvidia-persistenced",
    "nvidia-settings",
    "nvidia-xconfig",
]

# Package -> shared libraries as (name, soname); "V" is the driver's version.
LIBRARIES = {
    "libs": [
        ("libEGL_nvidia.so", "libEGL_nvidia.so.0"),
        ("libGLX_nvidia.so", "libGLX_nvidia.so.0"),
        ("libnvidia-cfg.so", "libnvidia-cfg.so.1"),
        ("libnvidia-glcore.so", "libnvidia-glcore.so.V"),
        ("libnvidia-tls.so", "libnvidia-tls.so.V"),
    ],
    "cuda-libs": [
        ("libcuda.so", "libcuda.so.1"),
        ("libnvcuvid.so", "libnvcuvid.so.1"),
        ("libnvidia-encode.so", "libnvidia-encode.so.1"),
        ("libnvidia-opencl.so", "libnvidia-opencl.so.1"),
        ("libnvidia-ptxjitcompiler.so", "libnvidia-ptxjitcompiler.so.1"),
    ],
    "NVML": [("libnvidia-ml.so", "libnvidia-ml.so.1")],
    "NvFBCOpenGL": [("libnvidia-fbc.so", "libnvidia-fbc.so.1")],
    "libXNVCtrl": [("libXNVCtrl.so", "libXNVCtrl.so.0")],
    "nscq": [("libnvidia-nscq.so", "libnvidia-nscq.so.2")],
}

# Libraries for which nvidia-driver-devel has an unversioned link.
DEVEL_LINKS = ["libcuda.so", "libnvidia-ml.so", "libnvidia-encode.so", "libnvcuvid.so"]


def add_driver(version):
    """Adds a version that the archive offers real open modules of, unless it is listed; its branch may be new."""
    versions = DRIVERS.setdefault(version.split(".")[0], [])
    if version not in versions:
        versions.append(version)
        versions.sort(key=lambda text: [int(part) for part in text.split(".")])


def streams():
    """Every stream as (name, branch, kind); kind is "precompiled", "dkms" or "open"."""
    made = []
    for branch in DRIVERS:
        made += [(branch, branch, "precompiled"), (f"{branch}-dkms", branch, "dkms"), (f"{branch}-open", branch, "open")]
    made += [
        ("latest", LATEST_BRANCH, "precompiled"),
        ("latest-dkms", LATEST_BRANCH, "dkms"),
        ("open-dkms", LATEST_BRANCH, "open"),
    ]
    return made
