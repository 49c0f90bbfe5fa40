"""`edgegpu test` as a test of ours: it boots, checks and upgrades; what it reports is judged here."""
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Not the one of the integration tests, which run at the same time: a cache serves one build at a time.
CACHE = ROOT / "build/e2e/cache"
EDGEGPU = ROOT / "build/edgegpu"
CHECKS = pathlib.Path(__file__).resolve().parent / "checks"
GUEST = ROOT / "src/machine/guest"
# For `edgegpu image --inject`: the shell by which machine_driver runs scripts in the guest.
INJECTED = f"""
[[files]]
path = "/etc/edgegpu-test/guest-agent"
source = "{GUEST / 'guest-agent'}"
mode = "0755"

[[files]]
path = "/etc/systemd/system/edgegpu-test.service"
source = "{GUEST / 'edgegpu-test.service'}"

[[files]]
path = "/etc/systemd/system/multi-user.target.d/edgegpu-test.conf"
data = "[Unit]\\nWants=edgegpu-test.service\\n"
"""
# What edgegpu finds to check in blueprints/lab-gpu.toml.
EVERYTHING = ["multi-user", "booted-commit", "greenboot", "services", "selinux-enforcing", "labels", "read-only", "kernel-arguments",
              "blacklisted-modules", "firewall", "bundles", "ssh-login operator", "authorized-key operator", "multi-user-at-end", "failed-units",
              "labels-at-end", "selinux-denials"]


def build(blueprint, repo, lock, *options):
    subprocess.run([EDGEGPU, "build", blueprint, "--repo", repo, "--cache-dir", CACHE, "--lock", lock, "--quiet", *options],
                   check=True)


def rehearse(repo, ref, output, *options):
    """Runs `edgegpu test`, prints a line for each check, and returns {phase: {check: verdict}}. Exits with 1 if a check has
    failed or none was made; skipped ones are for the caller to judge. `options` may name the user's own checks."""
    done = subprocess.run([EDGEGPU, "test", ref, "--repo", repo, "--output", output, "--json", "--quiet", *options],
                          stdout=subprocess.PIPE, text=True, check=False, env={**os.environ, "TMPDIR": str(output.parent)})
    try:
        report = json.loads(done.stdout)
    except ValueError:
        sys.exit(f"not ok: edgegpu test ended with {done.returncode} and no report")
    print("accelerator:", report["accelerator"])
    verdicts = {}
    for phase in report["phases"]:
        found = verdicts.setdefault(phase["name"], {})
        for check in phase["checks"]:
            found[check["name"]] = check["verdict"]
            word = {"passed": "ok", "failed": "not ok", "skipped": "skipped"}[check["verdict"]]
            print(f"{word} {phase['name']}: {check['name']} {check['text']}")
            if check["verdict"] == "failed":
                print("\n".join(f"    {line}" for line in check.get("details", [])))
    if done.returncode != 0 or not verdicts:
        sys.exit(f"not ok: edgegpu test ended with {done.returncode}")
    return verdicts


def demand(verdicts, phase, names):
    """Exits with 1 unless all these checks were made in the phase, and passed."""
    missing = [name for name in names if verdicts.get(phase, {}).get(name) != "passed"]
    if missing:
        sys.exit(f"not ok: {phase}: not passed: {', '.join(missing)}; there are {verdicts.get(phase)}")
