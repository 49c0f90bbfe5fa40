"""The packages that are the lab's own: a directory each under tests/lab/packages.

    package      `Tag: value` lines, an empty line, the description (lab's own packages only)
    header       further spec header lines
    scriptlets   scriptlet and trigger sections, as a spec file has them
    files/       the tree it carries (for a converted package: laid over Debian's)
    hardlinks    lines "EXISTING NEW": hard links to make in the tree
"""

import os
import pathlib

from labtool import convert, rpm

# The directories of `filesystem`; every other package leaves them to it.
DIRECTORIES = """
/boot /dev /etc /etc/opt /etc/profile.d /etc/sysconfig /etc/xdg /home /media /mnt /opt /proc /run
/srv /sys /usr /usr/bin /usr/games /usr/include /usr/lib /usr/lib/modules /usr/lib/sysimage
/usr/lib/x86_64-linux-gnu /usr/lib/systemd /usr/lib/systemd/system /usr/lib/sysusers.d
/usr/lib/tmpfiles.d /usr/lib/udev /usr/lib/udev/rules.d /usr/lib64 /usr/libexec /usr/local
/usr/local/bin /usr/local/etc /usr/local/lib /usr/local/sbin /usr/local/share /usr/sbin
/usr/share /usr/share/empty /usr/share/empty.sshd /usr/share/licenses /usr/src /usr/src/kernels
/usr/share/bash-completion /usr/share/bash-completion/completions /var /var/adm /var/cache
/var/empty /var/lib /var/lib/misc /var/local /var/log /var/mail /var/opt /var/spool /etc/systemd
/etc/systemd/system /usr/share/rpm /var/lib/alternatives /etc/alternatives
""".split()

MODES = {"/root": 0o550, "/tmp": 0o1777, "/var/tmp": 0o1777}

LINKS = {"/bin": "usr/bin", "/sbin": "usr/sbin", "/lib": "usr/lib", "/lib64": "usr/lib64",
         "/var/run": "../run", "/var/lock": "../run/lock", "/var/spool/mail": "../mail"}

OWNED = set(DIRECTORIES) | set(MODES)

# Modes of setup's files that are not 0644.
SETUP_MODES = {"/etc/shadow": "0600", "/etc/gshadow": "0600"}


def filesystem_tree(tree):
    """Makes the tree of `filesystem`."""
    tree = pathlib.Path(tree)
    for path in sorted(OWNED):
        folder = tree / path[1:]
        folder.mkdir(parents=True, exist_ok=True)
    for path in OWNED:
        os.chmod(tree / path[1:], MODES.get(path, 0o755))
    for path, goal in LINKS.items():
        (tree / path[1:]).symlink_to(goal)


def apply_directory(folder, tree):
    """Lays a package directory's files over `tree` and makes its hard links."""
    if (folder / "files").is_dir():
        convert.overlay(folder / "files", tree)
    if (folder / "hardlinks").is_file():
        for line in (folder / "hardlinks").read_text().splitlines():
            existing, new = (pathlib.Path(tree) / p[1:] for p in line.split())
            new.parent.mkdir(parents=True, exist_ok=True)
            os.link(existing, new)


def extras(folder):
    """(header lines, scriptlets) of a package directory."""
    header, scripts = folder / "header", folder / "scriptlets"
    return (header.read_text().splitlines() if header.is_file() else [],
            scripts.read_text() if scripts.is_file() else "")


def own_spec(config, folder, tree, version=""):
    """The spec text of one of the lab's own packages whose content is in `tree`.

    `version` takes the place of @VERSION@, for a package of which the lab has several.
    """
    text = (folder / "package").read_text().replace("@VERSION@", version)
    head, _, description = text.partition("\n\n")
    tags = [tuple(line.split(": ", 1)) for line in head.splitlines()]
    single = {k: v for k, v in tags if k in ("Version", "Release", "Epoch", "Summary", "Arch")}
    lines = [f"{k}: {v}" for k, v in tags if k not in single]
    more, scripts = extras(folder)
    name = folder.name
    given = convert.attributes(config, name, tree, [])
    if name == "setup":
        for path in sorted(pathlib.Path(tree, "etc").iterdir()):
            mode = SETUP_MODES.get(f"/etc/{path.name}", "0644")
            given[f"/etc/{path.name}"] = f"%attr({mode},root,root) %config(noreplace)"
    skip = () if name == "filesystem" else OWNED
    files = rpm.file_list(tree, given, skip)
    return convert.spec(name, (single.get("Epoch", "0"), single["Version"], single["Release"]),
                        single["Summary"], description.strip(), lines + more, files, scripts,
                        single.get("Arch") == "noarch")
