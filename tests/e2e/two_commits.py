"""Two commits of blueprints/lab-gpu.toml for machines to be upgraded: the second has another user, other kernel arguments, a
changed bundle, a newer package, and another container image."""
import os
import re
import shutil
import subprocess

import container_images
from rehearsal import ROOT, build

REF = "lab/12/x86_64/edge-gpu"

SECOND_USER = """
[[customizations.user]]
name = "second"
groups = ["wheel"]
key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOLnNw5NA5MJilctpDqs5ON27MVyUp2mYVcMjMFgiAlq second@example.invalid"
"""

CANARY = """Name: edgegpu-lab-canary
Version: {version}
Release: 1
Summary: A package whose version an upgrade changes
License: Apache-2.0
BuildArch: noarch
%description
Stand-in for a package that is newer in the second commit.
%prep
%build
%install
mkdir -p %{{buildroot}}/usr/share/edgegpu-lab
echo {version} > %{{buildroot}}/usr/share/edgegpu-lab/canary
%files
/usr/share/edgegpu-lab
"""


VOLUMES = """
[[packages]]
name = "lvm2"

[[customizations.disk.partitions]]
mountpoint = "/var"
minsize = "2 GiB"

[[customizations.disk.partitions]]
mountpoint = "/data"
minsize = "200 MiB"
label = "site-data"

[[customizations.disk.partitions]]
fs_type = "swap"
minsize = "64 MiB"

[[customizations.disk.partitions]]
type = "lvm"
name = "site"
minsize = "200 MiB"
"""


def run(*argv, **options):
    subprocess.run([str(a) for a in argv], check=True, **options)


def make_canary(work, version):
    """Replaces the repository by one with the canary in this version, signed with the lab's key."""
    repo, spec = work / "canary", work / "canary.spec"
    shutil.rmtree(repo, ignore_errors=True)
    repo.mkdir(parents=True)
    spec.write_text(CANARY.format(version=version))
    gnupg = ROOT / "build/lab/gnupg"
    macros = f"--load={ROOT}/build/lab/rpmmacros"
    run("rpmbuild", macros, "-bb", "--quiet", "--define", f"_topdir {work}/rpmbuild",
        "--define", f"_rpmdir {repo}", spec, env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"},
        stderr=subprocess.DEVNULL)
    run("rpmsign", macros, "--addsign", *repo.rglob("*.rpm"), stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)
    run("createrepo_c", "--quiet", repo)
    run("gpg", "--homedir", gnupg, "--batch", "--yes", "--detach-sign", "--armor",
        repo / "repodata/repomd.xml")


def make_blueprint(work, stage, digests):
    """The lab's blueprint with the canary, a stage file, and for stage two a changed bundle."""
    tree = work / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    for name in ("blueprints", "manifests", "overlays", "selinux"):
        shutil.copytree(ROOT / name, tree / name)
    (tree / "build").mkdir()
    os.symlink(ROOT / "build/lab", tree / "build/lab")
    blueprint = tree / "blueprints/lab-gpu.toml"
    text = blueprint.read_text()
    text = re.sub(r'^version = .*$', f'version = "{stage}.0.0"', text, count=1, flags=re.M)
    arguments = "edgegpu.stage=1 edgegpu.first-only" if stage == 1 else "edgegpu.stage=2"
    text = re.sub(r'^append = "(.*)"$', rf'append = "\1 {arguments}"', text, flags=re.M)
    other = container_images.OTHER[stage]
    text += f"""
[[repositories]]
id = "canary"
baseurl = "file://{work}/canary"
gpgkey = "../build/lab/RPM-GPG-KEY-lab"

[[packages]]
name = "edgegpu-lab-canary"

[[packages]]
name = "podman"

[[packages]]
name = "curl"

# None of these servers is there: a machine that is tested is none of the fleet, and does not wait for the window.
[updates]
lock = "https://locks.example.invalid"
report_to = "https://reports.example.invalid"
time_zone = "Europe/Berlin"

[[updates.windows]]
days = ["Sun"]
start = "03:00"
length = "15m"

# One attempt instead of three, each of which takes a boot; counting down is the same.
[[customizations.files]]
path = "/etc/greenboot/greenboot.conf"
data = "GREENBOOT_MAX_BOOT_ATTEMPTS=1\\n"

[[customizations.files]]
path = "/etc/edgegpu-stage"
data = "IMAGE_STAGE={stage}\\nOTHER={other}\\nDIGEST={digests[other]}\\n"
""" + VOLUMES + container_images.tables(stage, work / "layout")
    blueprint.write_text(text + (SECOND_USER if stage == 2 else ""))
    if stage == 2:
        bundle = tree / "manifests/nvidia-device-plugin/kustomization.yaml"
        bundle.write_text(bundle.read_text() + "# stage-two\n")
    return blueprint


def build_both(work):
    """The repository, in an empty directory, with both: the second is REF, the first REF^; and the second's blueprint."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    digests = container_images.make_layout(ROOT / "build/lab", work / "layout")
    for stage in (1, 2):
        make_canary(work, f"{stage}.0")
        blueprint = make_blueprint(work, stage, digests)
        build(blueprint, work / "repo", work / f"stage{stage}.lock")
    return work / "repo", blueprint
