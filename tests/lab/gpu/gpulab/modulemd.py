"""Writes modules.yaml as NVIDIA's genmodules.py does: modulemd v2, no dependencies, plain scalars left unquoted."""

import hashlib

from . import catalog

DESCRIPTION = "Stand-in for NVIDIA's driver module for edgegpu's lab."


def artifact(name, version, release, arch=None):
    """An entry of artifacts.rpms."""
    arch = arch or ("noarch" if name in catalog.NOARCH else "x86_64")
    return f"{name}-{catalog.EPOCH}:{version}-{release}.{arch}"


def stream_context(stream):
    """Ten hex digits. Stream 535's is one that a naive YAML reader takes for a number; it is not quoted."""
    if stream == "535":
        return "1234e56789"
    return hashlib.sha256(stream.encode()).hexdigest()[:10]


def kmod_name(version, kernel):
    """The name of the precompiled package of driver `version` for `kernel` (see inputs.Kernel)."""
    return f"kmod-nvidia-{version}-{kernel.name_part}"


def kernel_module_packages(branch, kind, kernel):
    """Names of the kernel module packages that belong to a stream."""
    if kind == "dkms":
        return ["kmod-nvidia-latest-dkms"]
    if kind == "open":
        return ["kmod-nvidia-open-dkms"]
    return [kmod_name(version, kernel) for version in catalog.DRIVERS[branch]]


def profiles(branch, kind, kernel):
    """Profile -> package names."""
    packages = list(catalog.DRIVER_PACKAGES)
    modules = kernel_module_packages(branch, kind, kernel)
    # A precompiled package is named after its kernel, so no profile can name it: the solver finds it by nvidia-kmod.
    base = sorted(packages + (modules if kind != "precompiled" else []))
    default = sorted(base + ["cuda-drivers", f"cuda-drivers-{branch}"])
    return {
        "default": default,
        "fm": sorted(default + ["nvidia-fabric-manager", f"libnvidia-nscq-{branch}"]),
        "ks": base,
        "src": sorted(modules) if kind != "precompiled" else ["kmod-nvidia-latest-dkms"],
    }


def artifacts(branch, kind, kernel, dist):
    """Every artifact of a stream, sorted."""
    entries = []
    for version in catalog.DRIVERS[branch]:
        names = catalog.DRIVER_PACKAGES + [
            "cuda-drivers",
            f"cuda-drivers-{branch}",
            "nvidia-fabric-manager",
            f"libnvidia-nscq-{branch}",
        ]
        if kind == "open":
            names.append("kmod-nvidia-open-dkms")
        else:
            names.append("kmod-nvidia-latest-dkms")
        entries += [artifact(name, version, f"1{dist}") for name in names]
        if kind == "precompiled" and branch not in catalog.KMODS_NOT_IN_ARTIFACTS:
            entries.append(artifact(kmod_name(version, kernel), version, f"3{dist}"))
    return sorted(entries)


def stream_document(stream, branch, kind, kernel, dist):
    """One modulemd document."""
    lines = [
        "---",
        "document: modulemd",
        "version: 2",
        "data:",
        "  name: nvidia-driver",
        f"  stream: {stream}",
        "  version: 20231114221320",
        f"  context: {stream_context(stream)}",
        "  arch: x86_64",
        f"  summary: Stand-in for Nvidia driver for {stream} branch",
        "  description: >-",
        f"    {DESCRIPTION}",
        "  license:",
        "    module:",
        "    - Apache-2.0",
        "  profiles:",
    ]
    for profile, names in sorted(profiles(branch, kind, kernel).items()):
        lines += [f"    {profile}:", f"      description: {profile} installation", "      rpms:"]
        lines += [f"      - {name}" for name in names]
    lines += ["  artifacts:", "    rpms:"]
    lines += [f"    - {entry}" for entry in artifacts(branch, kind, kernel, dist)]
    lines.append("...")
    return "\n".join(lines)


def defaults_document():
    """The modulemd-defaults document."""
    lines = [
        "---",
        "document: modulemd-defaults",
        "version: 1",
        "data:",
        "  module: nvidia-driver",
        f"  stream: {catalog.DEFAULT_STREAM}",
        "  profiles:",
    ]
    lines += [f"    {stream}: [default]" for stream, _, _ in sorted(catalog.streams())]
    lines.append("...")
    return "\n".join(lines)


def modules_yaml(kernel, dist):
    """The whole of modules.yaml."""
    documents = [stream_document(s, branch, kind, kernel, dist) for s, branch, kind in catalog.streams()]
    return "\n".join(documents + [defaults_document()]) + "\n"
