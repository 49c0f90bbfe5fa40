"""Turn Debian packages into RPM packages: paths, names, versions, dependencies, spec files."""

import os
import pathlib
import re
import shutil
import stat

from labtool import debs, rpm

DIST = ".el12"

# Top-level directories that are links into /usr.
MERGED = {"bin": "usr/bin", "sbin": "usr/sbin", "lib": "usr/lib", "lib64": "usr/lib64"}

# Content without a purpose in the lab's images; copyright files are kept as licences.
DROPPED = ("usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/lintian",
           "usr/share/bug", "usr/share/info", "usr/share/apport", "usr/share/doc-base",
           "usr/share/zsh", "usr/share/fish", "usr/share/gdb", "usr/share/runit", "etc/init.d", "etc/rc.d",
           "etc/sv", "etc/ufw", "etc/apparmor.d", "etc/apt", "etc/dpkg", "etc/cron.daily",
           "etc/cron.d", "etc/cron.weekly", "etc/network", "etc/ppp", "etc/dhcp",
           "etc/kernel", "etc/insserv.conf.d", "var/cache/debconf", "var/lib/dpkg", "etc/python3",
           "usr/share/menu", "usr/share/initramfs-tools", "etc/update-motd.d", "var/log/runit",
           "usr/share/perl5", "var/lib/rpm", "usr/lib/python3/dist-packages/__pycache__", "run", "var/run")

ITEM = re.compile(r"^\s*([A-Za-z0-9][\w.+-]*)(?::\w+)?\s*(?:\(\s*(<<|<=|=|>=|>>)\s*([^)\s]+)\s*\))?")
OPERATOR = {"<<": "<", "<=": "<=", "=": "=", ">=": ">=", ">>": ">"}


def split_version(text):
    """Debian's [epoch:]upstream[-revision] as RPM's (epoch, version, release)."""
    epoch, _, rest = text.rpartition(":")
    upstream, dash, revision = rest.rpartition("-")
    if not dash:
        upstream, revision = rest, "0"
    clean = lambda s: re.sub(r"[^A-Za-z0-9._+~^]", ".", s)
    # Debian's order has a dash after the end of a version and before a dot, as RPM's has a caret.
    return epoch or "0", clean(upstream.replace("-", "^")), clean(revision)


def evr(text, exact=False):
    """A Debian version as it stands in an RPM dependency.

    `exact`: the release carries the lab's %dist, so that "=" and "<=" meet a built package.
    """
    epoch, version, release = split_version(text)
    shown = (f"{epoch}:" if epoch != "0" else "") + version
    if "-" in text:
        shown += f"-{release}" + (DIST if exact else "")
    return shown


class Translator:
    """Translates dependencies, knowing which packages exist and what they are called."""

    def __init__(self, config, controls):
        self.config = config
        self.left_out = set(config["left_out"])
        self.name = dict(config["names"])
        for merged, parts in config["merge"].items():
            self.name.update({p: merged for p in parts})
        self.present = {n for n in controls if n not in self.left_out}
        self.virtual = set()
        for name in self.present:
            for item in controls[name].get("Provides", "").split(","):
                if match := ITEM.match(item):
                    self.virtual.add(match[1])

    def rpm_name(self, deb):
        """The RPM's name of a Debian package."""
        return self.name.get(deb, deb)

    def item(self, text):
        """One `name (op version)` as RPM writes it, or None where nobody offers it."""
        match = ITEM.match(text)
        if not match or match[1] in self.left_out:
            return None
        if match[1] in self.present:
            name = self.rpm_name(match[1])
        elif match[1] in self.virtual:
            name = match[1]
        else:
            return None
        if not match[2]:
            return name
        # For Debian 2.36-9 is later than 2.36; RPM ignores the release where a dependency has none.
        operator = ">=" if match[2] == ">>" and "-" not in match[3] else OPERATOR[match[2]]
        return f"{name} {operator} {evr(match[3], match[2] in ('=', '<='))}"

    def field(self, own, text, required):
        """A Depends or Recommends field as a list of RPM dependencies."""
        found = []
        for group in filter(str.strip, text.split(",")):
            options = group.split("|")
            if any(ITEM.match(o) and ITEM.match(o)[1] in self.left_out for o in options):
                continue
            known = [i for i in map(self.item, options) if i]
            known = list(dict.fromkeys(known))
            if not known:
                if required:
                    raise rpm.LabError(f"{own}: nothing in the lab offers `{group.strip()}`: add it "
                                       "to the seeds or to left_out in data/packages.toml")
                continue
            if any(k.split()[0] == own for k in known):
                continue
            found.append(known[0] if len(known) == 1 else f"({' or '.join(known)})")
        return found

    def conflicts(self, own, provided, text):
        """Conflicts and Breaks, except with what the package itself is or offers."""
        found = []
        for item in filter(str.strip, text.split(",")):
            match = ITEM.match(item)
            if not match:
                continue
            name = self.rpm_name(match[1])
            if name == own or match[1] in provided or match[1] in self.left_out:
                continue
            bound = f" {OPERATOR[match[2]]} {evr(match[3], match[2] == '=')}" if match[2] else ""
            found.append(name + bound)
        return found


def rhel_names(names, version):
    """Provides of RHEL's names ("zlib", "openssl-libs:1" with RHEL's epoch), plain and with the architecture."""
    _, upstream, release = split_version(version)
    lines = []
    for name, _, epoch in (n.partition(":") for n in names):
        shown = (f"{epoch}:" if epoch else "") + f"{upstream}-{release}{DIST}"
        lines += [f"Provides: {name} = {shown}", f"Provides: {name}(x86-64) = {shown}"]
    return lines


def header(translator, name, controls):
    """The dependency part of a spec header for the RPM `name` made from `controls`."""
    lines, provided = [], set()
    for fields in controls:
        full = f"{fields['Package']}"
        if full != name:
            provided.add(full)
            lines.append(f"Provides: {full} = {evr(fields['Version'], True)}")
        lines += rhel_names(translator.config["also_called"].get(full, []), fields["Version"])
        for item in filter(str.strip, fields.get("Provides", "").split(",")):
            match = ITEM.match(item)
            provided.add(match[1])
            lines.append(f"Provides: {match[1]}" + (f" = {evr(match[3], True)}" if match[3] else ""))
    for fields in controls:
        for key, tag, required in (("Pre-Depends", "Requires", True), ("Depends", "Requires", True),
                                   ("Recommends", "Recommends", False),
                                   ("Suggests", "Suggests", False)):
            lines += [f"{tag}: {d}" for d in translator.field(name, fields.get(key, ""), required)]
        for key in ("Conflicts", "Breaks"):
            lines += [f"Conflicts: {d}" for d in
                      translator.conflicts(name, provided, fields.get(key, ""))]
    return list(dict.fromkeys(lines))


def merge_usr(tree):
    """Moves /bin, /sbin, /lib and /lib64 of an unpacked package below /usr."""
    tree = pathlib.Path(tree)
    for top, target in MERGED.items():
        source = tree / top
        if source.is_symlink() or not source.is_dir():
            continue
        _fix_links(tree, source, top, target)
        _move_into(source, tree / target)


def _fix_links(tree, source, top, target):
    """Rewrites relative links that would point elsewhere once they lie one level deeper."""
    for folder, names, files in os.walk(source):
        for name in names + files:
            path = pathlib.Path(folder, name)
            if not path.is_symlink():
                continue
            goal = os.readlink(path)
            if goal.startswith("/"):
                continue
            old_dir = "/" + os.path.relpath(folder, tree)
            absolute = os.path.normpath(os.path.join(old_dir, goal))
            if absolute.startswith(f"/{top}/"):
                continue
            new_dir = "/" + target + old_dir[len(top) + 1:]
            path.unlink()
            path.symlink_to(os.path.relpath(absolute, new_dir))


def _move_into(source, target):
    """Moves the content of `source` into `target`; a real file wins over a link."""
    target.mkdir(parents=True, exist_ok=True)
    for entry in sorted(source.iterdir()):
        goal = target / entry.name
        if entry.is_dir() and not entry.is_symlink() and goal.is_dir():
            _move_into(entry, goal)
        elif os.path.lexists(goal) and entry.is_symlink():
            entry.unlink()
        else:
            if os.path.lexists(goal):
                goal.unlink()
            os.rename(entry, goal)
    source.rmdir()


def prune(tree, names):
    """Drops what the lab does not carry and keeps each copyright file as a licence."""
    tree = pathlib.Path(tree)
    for name in names:
        copyright_ = tree / "usr/share/doc" / name / "copyright"
        if copyright_.is_file():
            goal = tree / "usr/share/licenses" / name
            goal.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(copyright_, goal / "copyright")
    for path in DROPPED:
        shutil.rmtree(tree / path, ignore_errors=True)
    for folder in ("usr/share/doc", "usr/share/licenses", "usr/share/man"):
        try:
            (tree / folder).rmdir()
        except OSError:
            pass


def overlay(source, tree):
    """Copies the files of a package directory of the lab over `tree`."""
    source = pathlib.Path(source)
    for folder, names, files in os.walk(source):
        here = pathlib.Path(tree) / os.path.relpath(folder, source)
        here.mkdir(parents=True, exist_ok=True)
        for name in sorted(files) + [n for n in names if pathlib.Path(folder, n).is_symlink()]:
            origin, goal = pathlib.Path(folder, name), here / name
            if os.path.lexists(goal):
                goal.unlink()
            if origin.is_symlink():
                goal.symlink_to(os.readlink(origin))
            else:
                shutil.copyfile(origin, goal)
                executable = origin.stat().st_mode & stat.S_IXUSR
                goal.chmod(0o755 if executable else 0o644)


def fix_modes(tree):
    """Directories the lab itself made get the mode that a umask cannot change."""
    for folder, names, _ in os.walk(tree):
        for name in names:
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                mode = stat.S_IMODE(os.lstat(path).st_mode)
                if mode & 0o7000 == 0 and mode not in (0o700, 0o750, 0o711):
                    os.chmod(path, 0o755)


def attributes(config, name, tree, conffiles):
    """What stands before single paths in %files: data/packages.toml's, licences, configuration."""
    found = {}
    for path in conffiles:
        moved = path
        for top, target in MERGED.items():
            if path.startswith(f"/{top}/"):
                moved = f"/{target}{path[len(top) + 1:]}"
        full = pathlib.Path(tree) / moved[1:]
        if full.is_file() and not full.is_symlink():
            found[moved] = "%config(noreplace)"
    for licence in sorted((pathlib.Path(tree) / "usr/share/licenses").glob("*/*")):
        found["/" + str(licence.relative_to(tree))] = "%license"
    found.update(config["attributes"].get(name, {}))
    return found


def spec(name, version, summary, description, header_lines, files, scriptlets="", noarch=False,
         automatic=True):
    """The text of a spec file with one package.

    `automatic`: RPM's generators look at the files for what they provide and require.
    """
    epoch, upstream, release = version
    lines = [f"Name: {name}"]
    if epoch != "0":
        lines.append(f"Epoch: {epoch}")
    lines += [f"Version: {upstream}", f"Release: {release}{DIST}",
              f"Summary: {summary or name}".replace("%", "%%"),
              "License: see /usr/share/licenses"]
    if not automatic:
        lines.append("AutoReqProv: no")
    if noarch:
        lines.append("BuildArch: noarch")
    lines += header_lines
    lines += ["", "%description", (description or name).replace("%", "%%"), ""]
    lines += [scriptlets, "", "%files", *files, ""]
    return "\n".join(lines)


def describe(fields):
    """Summary and description of a Debian package, saying where the content comes from."""
    text = fields.get("Description", fields["Package"])
    summary, _, rest = text.partition("\n")
    rest = "\n".join("" if line == "." else line for line in rest.splitlines())
    origin = f"Converted from Debian's {fields['Package']} {fields['Version']} for edgegpu's lab."
    return summary, f"{rest}\n\n{origin}"
