"""Container images in the commits of an upgrade: two images of one static program, of which the second commit
replaces one."""
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import container_image as images  # noqa: E402  pylint: disable=wrong-import-position

KEPT = "localhost/kept:1"
# What each stage has beside it, and beside the image of blueprints/lab-gpu.toml, lab.example.invalid/busybox:1.
OTHER = {1: "registry.example.com/lab/old:1", 2: "registry.example.com/lab/new:1"}


def busybox(lab):
    """Debian's static one, which is among the packages that the lab is made of."""
    package = next((lab / "debs").glob("busybox-static_*.deb"))
    archive = subprocess.run(["dpkg-deb", "--fsys-tarfile", package], check=True, stdout=subprocess.PIPE).stdout
    return subprocess.run(["tar", "-xO", "./bin/busybox"], input=archive, check=True, stdout=subprocess.PIPE).stdout


def make_layout(lab, path):
    """An OCI layout at `path` with an image for each name; {name: digest}."""
    shutil.rmtree(path, ignore_errors=True)
    layout = images.Layout(path)
    program = images.layer(images.directory("bin"), images.file("bin/busybox", busybox(lab), 0o755),
                           images.link("bin/sh", "busybox"), images.link("bin/cat", "busybox"))
    return {name: layout.image([program, images.layer(images.directory("etc"), images.file("etc/image", f"{name}\n"))],
                               tag_of(name))["digest"] for name in (KEPT, *OTHER.values())}


def tag_of(name):
    return name.split("/")[-1].replace(":", "-")


def tables(stage, layout):
    """The blueprint's lines for this stage."""
    return "".join(f'[[containers]]\nsource = "oci:{layout}:{tag_of(name)}"\nname = "{name}"\n'
                   for name in (KEPT, OTHER[stage])) + """
[[customizations.files]]
path = "/etc/tmpfiles.d/operator-linger.conf"
data = "f /var/lib/systemd/linger/operator 0644 root root -\\n"
"""
