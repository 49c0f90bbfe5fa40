"""Packages from a component of the archive that the machine's apt does not follow.

apt does the work, with the machine's own sources in which the component takes the place of `main`
and with lists of the lab's own: the Release files are verified with the same keys as ever, and the
machine's configuration is left as it is.
"""

import pathlib
import re
import shutil

from labtool import debs
from labtool.rpm import LabError, run

ONE_LINE = re.compile(r"deb\s+((?:\[[^\]]*\]\s+)?\S+\s+\S+)\s+(.*)")
COMPONENTS = re.compile(r"^Components:(.*)$", flags=re.M | re.I)


def sources_with(component, text, deb822):
    """A source file of apt reduced to its entries for `main`, which name `component` instead."""
    if deb822:
        stanzas = [s for s in re.split(r"\n\s*\n", text)
                   if (found := COMPONENTS.search(s)) and "main" in found[1].split()]
        return "\n\n".join(COMPONENTS.sub(f"Components: {component}", s) for s in stanzas) + "\n"
    found = filter(None, map(ONE_LINE.match, text.splitlines()))
    return "".join(f"deb {m[1]} {component}\n" for m in found if "main" in m[2].split())


def _configured(lab):
    """The machine's source files."""
    out = run(lab, ["apt-config", "shell", "LIST", "Dir::Etc::sourcelist/f",
                    "PARTS", "Dir::Etc::sourceparts/d"])
    places = dict(re.findall(r"(\w+)='([^']*)'", out))
    files = [pathlib.Path(places["LIST"])] if "LIST" in places else []
    if "PARTS" in places:
        files += sorted(pathlib.Path(places["PARTS"]).glob("*"))
    return [f for f in files if f.suffix in (".list", ".sources") and f.is_file()]


def apt_options(lab, component):
    """Options that make apt see only `component`, after `update` has read its lists."""
    state = pathlib.Path(lab) / "apt" / component
    empty = debs.empty_status(lab)
    return ["-o", "Dir::Etc::sourcelist=/dev/null", "-o", f"Dir::Etc::sourceparts={state}/sources",
            "-o", f"Dir::State::lists={state}/lists", "-o", f"Dir::Cache={state}/cache",
            "-o", f"Dir::State::status={empty}", "-o", "Acquire::Languages=none",
            "-o", "APT::Sandbox::User=root", "-o", "Acquire::Retries=3"]


def update(lab, component):
    """Downloads and verifies the lists of `component`; raises LabError where that fails."""
    state = pathlib.Path(lab) / "apt" / component
    shutil.rmtree(state, ignore_errors=True)
    for folder in ("sources", "lists/partial", "cache/archives/partial"):
        (state / folder).mkdir(parents=True)
    for file in _configured(lab):
        text = sources_with(component, file.read_text(encoding="utf-8"), file.suffix == ".sources")
        if text.strip():
            (state / "sources" / file.name).write_text(text, encoding="utf-8")
    run(lab, ["apt-get", *apt_options(lab, component), "-q", "update"])


def fetch(lab, component, package, folder):
    """Downloads the newest `package` of `component` to `folder`; returns (version, path of the .deb)."""
    options = apt_options(lab, component)
    shown = run(lab, ["apt-cache", *options, "show", "--no-all-versions", package])
    version = re.search(r"^Version: (\S+)$", shown, flags=re.M)
    if not version:
        raise LabError(f"component {component} has no package {package}")
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if not debs.file_name(folder, package, version[1]):
        run(lab, ["apt-get", *options, "-q", "download", f"{package}={version[1]}"], cwd=folder)
    path = debs.file_name(folder, package, version[1])
    if not path:
        raise LabError(f"apt-get download did not leave a file for {package} {version[1]}")
    return version[1], path
