"""A device of SL Micro's shape for tests: blueprints of packages of SUSE's shape (suse_packages.py), their images, and a
directory that has a device's files, onto which an image is copied as transactional-update 6.1.3 does (apply-oci,
lib/Snapshot/Podman.cpp). What stands in for podman is tar, which unpacks the layers; rsync is real."""
import json
import re
import subprocess
import sys

import lab_image as lab

REF = "sl-micro/6/x86_64/gpu"
BLUEPRINT = """
name = "suse-gpu"
version = "{version}"
distro = "sl-micro-6.1"
architecture = "x86_64"
accounts.login = "none"
[ostree]
ref = "{ref}"
[nvidia]
driver = "550"
devices = ["10de:20b7"]
[modprobe]
blacklist = ["nouveau"]
[[customizations.group]]
name = "render2"
[[customizations.user]]
name = "operator"
groups = ["render2"]
[[customizations.files]]
path = "/etc/edge.conf"
data = "setting = {version}\\n"
[[customizations.directories]]
path = "/usr/share/edge"
[[customizations.files]]
path = "/usr/share/edge/version"
data = "{version}\\n"
{more}
"""
REPOSITORY = """
[[repositories]]
id = "{name}"
baseurl = "{url}"
gpgkey = "{key}"
"""
SYSTEM = ("basesystem", "bash", "coreutils", "dracut", "findutils", "glibc", "iputils", "kmod", "podman", "rpm", "rsync", "setup",
          "shadow-utils", "SL-Micro-release", "systemd", "systemd-udev", "transactional-update", "util-linux")
# Mounts of a device, which Podman.cpp excludes. /etc is one of them.
MOUNTS = ("/dev", "/etc", "/home", "/opt", "/proc", "/root", "/run", "/srv", "/sys", "/tmp", "/usr/local", "/var")


def write_blueprint(work, repository, version, packages=SYSTEM, more="", name="suse"):
    text = BLUEPRINT.format(ref=REF, version=version, more=more)
    for repo, url in (("baseos", lab.LAB / "repos/baseos"), ("suse", repository)):
        text += REPOSITORY.format(name=repo, url=url, key=lab.LAB / "RPM-GPG-KEY-lab")
    text += "".join(f'[[packages]]\nname = "{package}"\n' for package in packages)
    path = work / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return path


class Builder:
    def __init__(self, work, repository):
        self.work, self.repository, self.repo, self.cache = work, repository, work / "repo", lab.shared_cache()

    def edgegpu(self, *arguments):
        return subprocess.run([lab.EDGEGPU, *map(str, arguments)], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=lab.PLAIN, check=False)

    def build(self, blueprint, *more):
        return self.edgegpu("build", blueprint, "--repo", self.repo, "--cache-dir", self.cache, "--lock",
                            blueprint.with_suffix(".lock"), *more)

    def image(self, version):
        """The image's layout, and its files as podman has them when it mounts the image."""
        layout, root = self.work / f"layout-{version}", self.work / f"image-{version}"
        done = self.edgegpu("image", REF, "--repo", self.repo, "--type", "oci", "--output", f"oci:{layout}")
        if done.returncode != 0:
            sys.exit(f"edgegpu image: {done.stdout}")
        index = json.loads((layout / "index.json").read_text())
        blob = lambda digest: layout / "blobs/sha256" / digest.removeprefix("sha256:")  # noqa: E731
        manifest = json.loads(blob(index["manifests"][0]["digest"]).read_text())
        root.mkdir()
        for layer in manifest["layers"]:
            lab.run("tar", "-xzpf", blob(layer["digest"]), "-C", root, "--numeric-owner", "--xattrs", "--xattrs-include=*",
                    "--same-owner", "--overwrite")
        return json.loads(blob(manifest["config"]["digest"]).read_text()), root


def apply(image, device):
    """transactional-update's two calls of rsync; returns how many files were copied."""
    arguments = ["--archive", "--hard-links", "--xattrs", "--acls", "--inplace", "--one-file-system"]
    excludes = [word for mount in MOUNTS for word in ("--exclude", mount)]
    first = lab.run("rsync", "--stats", "--delete", *arguments, *excludes, f"{image}/", f"{device}/")
    lab.run("rsync", *arguments, "--ignore-existing", f"{image}/etc/", f"{device}/etc/")
    (device / ".autorelabel").touch()
    return int(re.search(r"regular files transferred: ([\d,]+)", first).group(1).replace(",", ""))


def make_device(work):
    """What a device has before: files of its own, and some of an older system."""
    device = work / "device"
    for path in (*MOUNTS, "/usr/bin", "/etc/sysconfig", "/boot/grub2"):
        (device / path.lstrip("/")).mkdir(parents=True, exist_ok=True)
    for path, content in (("etc/hostname", "node-7\n"), ("etc/motd", "mine\n"), ("etc/passwd", "root:x:0:0::/root:/bin/bash\n"),
                          ("usr/bin/old-program", "old\n"), ("var/data", "kept\n"), ("etc/.updated", "TIMESTAMP_NSEC=1\n"),
                          ("home/notes", "kept\n")):
        (device / path).write_text(content, encoding="utf-8")
    return device


def in_device(device, *argv):
    return subprocess.run(["bwrap", "--bind", device, "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run", "--tmpfs", "/tmp",
                           "--tmpfs", "/var/tmp", "--unshare-net", *argv], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env=lab.PLAIN, check=False)
