"""What the lab takes from the archive's component `contrib`: free software that is of use with NVIDIA's driver only."""

import json
import pathlib
import sys

from labtool import component, convert, debs, rpm

COMPONENT = "contrib"


def find(lab, package, record, otherwise):
    """(upstream version, path of the .deb) of `package`, downloaded; None, with a line that says why, where there is none.

    What was found is kept in LAB/`record` for as long as apt's lists stay the same. `otherwise` says what the lab does without.
    """
    record, lists = pathlib.Path(lab) / record, debs.lists_digest(lab)
    known = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    if known.get("lists") == lists and (lab / "debs" / known["deb"]).exists():
        return known["version"], lab / "debs" / known["deb"]
    try:
        component.update(lab, COMPONENT)
        version, path = component.fetch(lab, COMPONENT, package, lab / "debs")
    except rpm.LabError as error:
        reason = str(error).strip().splitlines()
        print(f"lab: no {package} of {COMPONENT} ({reason[0]}): {otherwise}", file=sys.stderr)
        return None
    upstream = convert.split_version(version)[1]
    rpm.write_atomic(record, json.dumps({"lists": lists, "version": upstream, "deb": path.name}, indent=2) + "\n")
    return upstream, path
