"""The repository `nvidia-sha512`: the packages of `nvidia` as NVIDIA's container toolkit repository has its own.

All checksums are SHA-512. Packages are signed by a subkey that expired since, repomd.xml by the primary key.
"""

import os
import shutil
import subprocess

from labtool import rpm

NAME = "nvidia-sha512"
KEY_UID = "edgegpu lab, stand-in for NVIDIA <nvidia@example.invalid>"
KEY_FILE = "RPM-GPG-KEY-lab-nvidia"
HOME = "gnupg-nvidia"
LIFETIME = "1y"


def environment(lab):
    """The lab's environment with the home of this key."""
    return {**rpm.build_env(lab), "GNUPGHOME": str(lab / HOME)}


def gpg(lab, *arguments):
    """Runs gpg with this key's home at the lab's time; returns what it prints."""
    return rpm.run(lab, ["gpg", "--batch", "--quiet", *rpm.FIXED_CLOCK, *arguments], env=environment(lab))


def fingerprints(lab):
    """Fingerprints of the primary key and of the subkey; fewer where there is no key."""
    if not (lab / HOME).is_dir():
        return []
    listed = rpm.run(lab, ["gpg", "--batch", "--quiet", "--no-auto-check-trustdb", "--with-colons", "--list-secret-keys"],
                     env=environment(lab))
    return [line.split(":")[9] for line in listed.splitlines() if line.startswith("fpr:")]


def setup_key(lab):
    """Makes the key and its exported public half unless they are there."""
    if (lab / KEY_FILE).exists() and len(fingerprints(lab)) == 2:
        return
    shutil.rmtree(lab / HOME, ignore_errors=True)
    (lab / HOME).mkdir(mode=0o700)
    os.chmod(lab / HOME, 0o700)
    gpg(lab, "--passphrase", "", "--quick-generate-key", KEY_UID, "rsa3072", "sign", "never")
    gpg(lab, "--pinentry-mode", "loopback", "--passphrase", "", "--quick-add-key", fingerprints(lab)[0], "rsa2048", "sign",
        LIFETIME)
    armoured = rpm.run(lab, ["gpg", "--batch", "--armor", "--export", KEY_UID], env=environment(lab))
    rpm.write_atomic(lab / KEY_FILE, armoured)
    stop_agent(lab)


def stop_agent(lab):
    """Ends the agent of this key's home."""
    subprocess.run(["gpgconf", "--kill", "gpg-agent"], env=environment(lab), check=False)


def make_repository(lab, source, target, modules):
    """Fills `target` with the packages of `source`, signed anew, and their metadata; `modules` is modules.yaml."""
    primary, subkey = fingerprints(lab)
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    packages = sorted(shutil.copy(package, target) for package in source.glob("*.rpm"))
    rpm.run(lab, ["rpmsign", "--addsign", f"--load={lab / 'rpmmacros'}", "--define", f"_gpg_name {subkey}!",
                  "--define", f"_gpg_path {lab / HOME}", *packages], env=environment(lab))
    rpm.createrepo(lab, target, modules=modules, checksum="sha512")
    signature = target / "repodata" / "repomd.xml.asc"
    signature.unlink()
    gpg(lab, "--local-user", primary + "!", "--armor", "--digest-algo", "SHA512", "--detach-sign", "--output", signature,
        signature.with_suffix(""))
    stop_agent(lab)
