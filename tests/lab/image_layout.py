"""The lab's container image as an OCI image layout, for blueprints of the lab. It has no registry."""
import hashlib
import io
import shutil
import subprocess
import tarfile


def make(lab):
    """`images/busybox`: the image in the package lab-container-image."""
    package = max((lab / "repos/baseos").glob("lab-container-image-*.rpm"))
    target = lab / "images/busybox"
    stamp = lab / "images/busybox.stamp"
    digest = hashlib.sha256(package.read_bytes()).hexdigest()
    if target.exists() and stamp.exists() and stamp.read_text(encoding="ascii") == digest:
        return
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    payload = subprocess.run(["rpm2cpio", package], check=True, capture_output=True).stdout
    archive = subprocess.run(["cpio", "-i", "--quiet", "--to-stdout", "./usr/share/lab/busybox.tar"], input=payload,
                             check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as image:
        image.extractall(target)
    stamp.write_text(digest, encoding="ascii")
