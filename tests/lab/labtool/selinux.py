"""Build the lab's targeted policy as RHEL ships it: a store, the compiled policy, contexts."""

import bz2
import pathlib
import shutil

from labtool import rpm

CONFIG = """\
# This file controls the state of SELinux on the system.
SELINUX=enforcing
SELINUXTYPE=targeted
"""

# Where ostree systems keep what an installed one has elsewhere, labelled alike (as RHEL does).
SUBS = """
/sysroot/tmp /tmp
/var/home /home
/var/mnt /mnt
/var/opt /opt
/var/roothome /root
/var/srv /srv
/var/usrlocal /usr/local
/usr/lib/opt /opt
"""


def build_targeted(lab, config, deb_tree, own, tree):
    """Fills `tree` with selinux-policy-targeted, from Debian's unpacked policy in `deb_tree` and the module `own`.

    /var/lib/selinux/targeted gets the module store (priority 100), /etc/selinux/targeted the
    binary policy, file contexts and the other run-time files.
    """
    deb_tree, tree = pathlib.Path(deb_tree), pathlib.Path(tree)
    target = tree / "etc/selinux/targeted"
    target.parent.mkdir(parents=True)
    shutil.copytree(deb_tree / "etc/selinux/default", target, symlinks=True)
    subs = target / "contexts/files/file_contexts.subs_dist"
    subs.write_text(subs.read_text() + SUBS)
    (tree / "var/lib/selinux").mkdir(parents=True)
    # semodule reads its settings below the root it works on; the packages have their own.
    settings = tree / "etc/selinux/semanage.conf"
    settings.write_text("module-store = direct\nexpand-check = 0\nbzip-small = true\n")
    (tree / "etc/selinux/config").write_text(CONFIG)
    modules = deb_tree / "usr/share/selinux/default"
    wanted = ["base"] + sorted(set(config["selinux"]["modules"]))
    files = [modules / f"{m}.pp.bz2" for m in wanted if (modules / f"{m}.pp.bz2").is_file()]
    rpm.run(lab, ["semodule", "-s", "targeted", "-p", tree, "-n", "-X", "100", "-i", *files, own])
    settings.unlink()
    (tree / "etc/selinux/config").unlink()
    store = tree / "var/lib/selinux/targeted"
    for lock in store.glob("semanage.*.LOCK"):
        lock.unlink()


def drop_container_interfaces(tree):
    """Removes the interfaces of container engines: as in RHEL they come with container-selinux."""
    for name in ("container", "docker", "podman"):
        (pathlib.Path(tree) / f"usr/share/selinux/devel/include/services/{name}.if").unlink()


def compile_module(lab, name, sources, devel, work, defines=()):
    """Compiles `sources`/NAME.te against the headers in `devel`; returns the .pp.bz2.

    `defines` are m4 definitions ("NAME" or "NAME=VALUE").
    """
    work = pathlib.Path(work)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    for source in sorted(pathlib.Path(sources).glob(f"{name}.*")):
        shutil.copyfile(source, work / source.name)
    rpm.run(lab, ["make", "-f", pathlib.Path(devel) / "Makefile",
                  f"HEADERDIR={pathlib.Path(devel) / 'include'}", "NAME=targeted",
                  "M4=" + " ".join(["m4", *(f"-D{d}" for d in defines)]), f"{name}.pp"],
            cwd=work)
    packed = work / f"{name}.pp.bz2"
    packed.write_bytes(bz2.compress((work / f"{name}.pp").read_bytes()))
    return packed
