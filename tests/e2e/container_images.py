"""Container images in the commits of an upgrade: two images of one static program, of which the second commit
replaces one, and what podman makes of them on the device, as root and as an ordinary user."""
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import container_image as images  # noqa: E402  pylint: disable=wrong-import-position

KEPT = "localhost/kept:1"
# What each stage has beside it, and beside the image of blueprints/lab-gpu.toml, lab.example.invalid/busybox:1.
OTHER = {1: "registry.example.com/lab/old:1", 2: "registry.example.com/lab/new:1"}

CHECKS = r"""
as_root() { bash -c "$1"; }
as_user() { runuser -l operator -c "$1"; }
# lists WHO IMAGE...: exactly these are listed, each with whether it is in a read-only store
lists() {
    local who=$1 listed
    shift
    listed=$($who "podman images --format '{{.Repository}}:{{.Tag}} {{.ReadOnly}}'" | LC_ALL=C sort | paste -sd,)
    test "$listed" = "$(printf '%s\n' "$@" | LC_ALL=C sort | paste -sd,)" || { echo "$listed"; return 1; }
}
# runs WHO IMAGE TEXT: a container of the image reads its own text (podman's warnings, which begin with the time, aside)
runs() {
    local said
    said=$($1 "podman run --rm --network=none --pull=never $2 cat /etc/image" 2>&1 | grep -v "^time=.* level=warning")
    test "$said" = "$3" || { echo "$said"; return 1; }
}
# A lingering user's services start with the device, the one that shows the images among them.
user_services() { local unit i; unit="user@$(id -u operator).service"; for i in $(seq 60); do systemctl is-active --quiet "$unit" && return; sleep 1; done; systemctl status "$unit"; return 1; }
container_denials() { local d; d=$(journalctl -b --no-pager -o cat | grep -E "avc: +denied" | grep -iE "podman|conmon|crun|runc|container"); test -z "$d" || { echo "$d" | cut -c1-300; return 1; }; }
images() { # images OTHER DIGEST OWN...: that of this stage, its digest, and the user's own images
    local other=$1 digest=$2 who
    local all=("localhost/kept:1 true" "lab.example.invalid/busybox:1 true" "$other true")
    shift 2
    check images-root lists as_root "${all[@]}"
    check images-user lists as_user "${all[@]}" "$@"
    for who in root user; do
        check "run-$who" runs "as_$who" "$other" "$other"
        check "run-digest-$who" runs "as_$who" "${other%:*}@$digest" "$other"
    done
    check container-denials container_denials
}
"""
NAMES = ["user-services", "images-root", "images-user", "run-root", "run-digest-root", "run-user", "run-digest-user",
         "container-denials"]


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
