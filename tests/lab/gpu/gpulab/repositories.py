"""Builds the packages of the repositories, signs them, writes the metadata and puts the result in place."""

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from labtool import rpm

from . import catalog, driver, greenboot, inputs, kmod, microshift, modprobe, modulemd, open_modules, sha512, stage

NAMES = ("nvidia", sha512.NAME, "microshift", "health")

# One build: (repository, label, function that fills a build root and returns the spec, rpm payload or None)


def planned_builds(lab, kernel, modules, loader):
    """Every rpmbuild run, the slow ones first."""
    builds = []
    for versions in catalog.DRIVERS.values():
        for version in versions:
            builds.append(("nvidia", f"kmod-{version}", partial(kmod.kmod_package, lab, kernel, version), None))
    for versions in catalog.DRIVERS.values():
        for version in versions:
            # xz would take half a minute for the real sources.
            payload = None if modules and modules.version == version else rpm.PAYLOAD_XZ
            builds.append(("nvidia", f"driver-{version}", partial(driver.driver_package, version, modules, loader), payload))
    for version in catalog.TOOLKITS:
        builds.append(("nvidia", f"toolkit-{version}", partial(driver.toolkit_package, version), rpm.PAYLOAD_XZ))
    builds.append(("nvidia", "desktop", partial(driver.plain_package, "desktop-standins", "desktop"), None))
    builds.append(("microshift", "microshift", microshift.microshift_package, None))
    for spec, source in (("cri-o", "cri-o"), ("cluster-standins", "cluster")):
        builds.append(("microshift", spec, partial(driver.plain_package, spec, source), None))
    builds.append(("health", "lab-gpu", partial(kmod.lab_gpu_package, kernel), None))
    for version in greenboot.VERSIONS:
        repository = "microshift" if version == greenboot.DEFAULT else "health"
        builds.append((repository, f"greenboot-{version}", partial(greenboot.greenboot_package, version), None))
    return builds


def build_one(lab, work, build):
    """Runs one planned build; its packages land unsigned in work/repos/REPOSITORY."""
    repository, label, fill, payload = build
    root = work / "roots" / label
    spec = fill(root)
    root.chmod(0o755)
    stage.make_listed(spec, root)
    return rpm.build_spec(lab, spec, root, work / "repos" / repository, payload)


def build_all(lab, work, kernel, dist, modules, loader):
    """Makes the repositories, complete with metadata, below work/repos."""
    jobs = os.cpu_count() or 1
    with ThreadPoolExecutor(jobs) as pool:
        made = list(pool.map(lambda build: build_one(lab, work, build), planned_builds(lab, kernel, modules, loader)))
    rpm.sign(lab, [package for packages in made for package in packages], jobs)
    document = work / "modules.yaml"
    rpm.write_atomic(document, modulemd.modules_yaml(kernel, dist))
    rpm.createrepo(lab, work / "repos" / "nvidia", modules=document)
    for name in ("microshift", "health"):
        rpm.createrepo(lab, work / "repos" / name)
    sha512.make_repository(lab, work / "repos" / "nvidia", work / "repos" / sha512.NAME, document)


def put_in_place(lab, work, digest):
    """Replaces the lab's repositories by the new ones; the digest is written last, so a broken run is repeated."""
    for name in NAMES:
        target, old = lab / "repos" / name, work / f"{name}.old"
        target.parent.mkdir(exist_ok=True)
        if target.exists():
            target.rename(old)
        (work / "repos" / name).rename(target)
    rpm.write_atomic(lab / "gpu-repos.digest", digest + "\n")


def make_repositories(lab):
    """Makes the repositories in LAB/repos unless they are there for the same inputs; True when it built."""
    dist = inputs.read_dist(lab)
    kernel = inputs.read_oldest_kernel(lab, dist)
    modules = open_modules.find(lab)
    if modules:
        catalog.add_driver(modules.version)
    loader = modprobe.find(lab)
    debs = [modules.deb] if modules else []
    debs += [loader[1]] if loader else []
    sha512.setup_key(lab)
    digest = inputs.digest_inputs(lab, kernel, debs)
    stamp = lab / "gpu-repos.digest"
    present = all((lab / "repos" / n / "repodata" / "repomd.xml.asc").exists() for n in NAMES)
    if present and stamp.exists() and stamp.read_text(encoding="utf-8").strip() == digest:
        return False
    stamp.unlink(missing_ok=True)
    work = lab / "gpu.work" / "build"
    shutil.rmtree(work, ignore_errors=True)
    (work / "roots").mkdir(parents=True)
    build_all(lab, work, kernel, dist, modules, loader)
    put_in_place(lab, work, digest)
    shutil.rmtree(work)
    return True
