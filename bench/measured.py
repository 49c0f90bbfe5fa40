"""What the benchmarks share: programs that have to succeed, and what they cost."""
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]


def run(*argv, **options):
    """What the program prints on its standard output."""
    result = subprocess.run([str(a) for a in argv], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            check=False, **options)
    if result.returncode != 0:
        sys.exit(f"bench: {argv[0]} failed with {result.returncode}:\n{(result.stdout + result.stderr)[-3000:]}")
    return result.stdout


def busy_seconds():
    """Processor time that was used on this machine since it was booted."""
    words = [int(word) for word in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    user, nice, system, _, _, irq, softirq, _ = words
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def measured(*argv, **options):
    """Wall clock and processor time of the whole machine, on which nothing else should run (that of programs in a sandbox
    reaches none of edgegpu's parents, as bubblewrap does not wait for them); and what was printed."""
    os.sync()
    before, began = busy_seconds(), time.monotonic()
    text = run(*argv, **options)
    wall = time.monotonic() - began
    return {"wall": wall, "cpu": busy_seconds() - before}, text


def copy_lab_tree(tree):
    """The lab's blueprints, with what they name, in a new directory."""
    for name in ("blueprints", "manifests", "overlays", "selinux"):
        shutil.copytree(ROOT / name, tree / name)
    (tree / "build").mkdir()
    os.symlink((ROOT / "build/lab").resolve(), tree / "build/lab")
    return tree / "blueprints/lab-gpu.toml"
