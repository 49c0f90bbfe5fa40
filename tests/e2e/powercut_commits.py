"""Two commits of blueprints/lab-gpu.toml between which a power cut has much to break: another initramfs, other kernel arguments,
another package, and files of /etc."""
import os
import shutil
import subprocess

from rehearsal import EDGEGPU, ROOT, build

REF = "lab/12/x86_64/edge-gpu"
SIGN = ("--sign", "lab@example.invalid", "--gpg-homedir", ROOT / "build/lab/gnupg")
# `edgegpu-update now` asks neither for windows nor for the lock.
BLUEPRINT = """extends = "{root}/blueprints/lab-gpu.toml"
version = "{number}.0.0"

[modprobe]
blacklist = ["nouveau"{blacklist}]

[customizations.kernel]
append = "console=ttyS0 security=selinux rd.driver.blacklist=nouveau modprobe.blacklist=nouveau edgegpu.stage={number}"

[updates]
spread = "6h"
{more}
"""
MORE = {1: "", 2: """
[[packages]]
name = "tcpdump"

[[customizations.files]]
path = "/etc/edgegpu-second"
data = "second\\n"
"""}


def build_both(work, environment=None):
    """A published repository, with a static delta; [old commit, new commit]."""
    repo, edge = work / "repo", work / "edge"
    commits = []
    for number in (1, 2):
        blueprint = work / f"{number}.toml"
        blueprint.write_text(BLUEPRINT.format(root=ROOT, number=number, more=MORE[number],
                                              blacklist=', "floppy"' if number == 2 else ""))
        build(blueprint, repo, work / f"{number}.lock")
        subprocess.run([EDGEGPU, "publish", REF, "--from", repo, "--to", edge, "--delta-from", "1", "--quiet", *SIGN], check=True,
                       env={**os.environ, **(environment or {})}, stdout=subprocess.DEVNULL)
        commits.append(subprocess.run(["ostree", f"--repo={edge}", "rev-parse", REF], check=True, text=True,
                                      stdout=subprocess.PIPE).stdout.strip())
    shutil.rmtree(repo)
    return edge, commits
