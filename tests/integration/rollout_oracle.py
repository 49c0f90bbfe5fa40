#!/usr/bin/python3
"""What docs/rollouts.md says of plans, a second time and independently of the program: reads a plan, and decides for a device.

Usage: rollout_oracle.py DIRECTORY   checks the table DIRECTORY/decisions.txt against the plans beside it; rollout_test does."""
import hashlib
import pathlib
import re
import sys

WHOLE = 1_000_000
LARGEST = 1 << 20
HEX = "[0-9a-f]{64}"
NUMBER = "(?:0|[1-9][0-9]{0,10})"
TEXT = "(?: ([ -~]*))?"
FORMS = {
    "release": rf"release ({HEX}) ({NUMBER}){TEXT}",
    "wave": rf"wave ({HEX}) ({NUMBER}) ({NUMBER}) ({NUMBER})",
    "edge": rf"edge ({HEX}) ({HEX})",
    "barred": rf"barred ({HEX}) ({HEX}){TEXT}",
    "gpus": rf"gpus ({HEX}) ({HEX}) ([0-9a-f]{{4}}(?:,[0-9a-f]{{4}})*){TEXT}",
}


class Malformed(Exception):
    """Not a plan."""


class Plan:
    """The fields of a plan file."""

    def __init__(self, data):
        self.releases, self.waves, self.edges, self.barred, self.gpus = {}, {}, [], {}, {}
        if len(data) > LARGEST or not data.endswith(b"\nend\n"):
            raise Malformed("too large, or without its end")
        lines = data[:-len("end\n")].decode("latin-1").split("\n")[:-1]
        head = [re.fullmatch(form, line) for form, line in zip(
            ("(edgegpu-rollout/1)", r"ref ([^ \t-\x1f\x7f-\xff]+)", f"serial ({NUMBER})", f"expires ({NUMBER})"), lines)]
        if len(head) < 4 or not all(head):
            raise Malformed("head")
        self.ref, self.serial, self.expires = head[1][1], int(head[2][1]), int(head[3][1])
        for line in lines[4:]:
            kind = line.split(" ")[0]
            found = re.fullmatch(FORMS.get(kind, "(?!)"), line)
            if not found:
                raise Malformed(line)
            getattr(self, f"add_{kind}")(*found.groups())

    def add_release(self, commit, index, version):
        if commit in self.releases or (self.releases and int(index) <= max(i for i, _ in self.releases.values())):
            raise Malformed(f"release {commit}")
        self.releases[commit] = (int(index), version or "")

    def add_wave(self, commit, start, share, duration):
        if commit not in self.releases or commit in self.waves or int(share) > WHOLE:
            raise Malformed(f"wave {commit}")
        self.waves[commit] = (int(start), int(share), int(duration))

    def require_jump(self, source, target):
        if source not in self.releases or target not in self.releases:
            raise Malformed(f"{source} {target}")

    def add_edge(self, source, target):
        self.require_jump(source, target)
        if target not in self.waves or self.releases[source][0] >= self.releases[target][0] or (source, target) in self.edges:
            raise Malformed(f"edge {source} {target}")
        self.edges.append((source, target))

    def add_barred(self, source, target, reason):
        self.require_jump(source, target)
        if (source, target) in self.edges or (source, target) in self.barred:
            raise Malformed(f"barred {source} {target}")
        self.barred[source, target] = reason

    def add_gpus(self, source, target, ids, reason):
        if (source, target) not in self.edges:
            raise Malformed(f"gpus {source} {target}")
        self.gpus.setdefault((source, target), {}).update(dict.fromkeys(ids.split(","), reason))


def position(device, commit):
    return int(hashlib.sha256(f"{device} {commit}".encode()).hexdigest()[:7], 16) * WHOLE // (1 << 28)


def share(wave, now):
    start, first, duration = wave
    if now < start:
        return 0
    return first if duration == 0 else min(WHOLE, first + (WHOLE - first) * (now - start) // duration)


def turn(wave, place):
    """The first second at which a device of that position may go; None: never, as the plan is."""
    start, first, duration = wave
    if place < first:
        return start
    if duration == 0:
        return None
    low, high = start, start + duration
    while low < high:
        middle = (low + high) // 2
        if place < share(wave, middle):
            high = middle
        else:
            low = middle + 1
    return low


def decide(data, device, commit, now, gpus, ref=None):
    """What a device does by a plan: "target COMMIT", or why nothing."""
    try:
        plan = Plan(data)
    except Malformed:
        return "malformed"
    if ref and plan.ref != ref:
        return "other-ref"
    if now > plan.expires:
        return "expired"
    if commit not in plan.releases:
        return "unknown"
    targets = [target for source, target in plan.edges if source == commit]
    if not targets:
        return "no-edge"
    free = [target for target in targets if not gpus & set(plan.gpus.get((commit, target), ()))]
    if not free:
        return "barred"
    reached = [target for target in free if position(device, target) < share(plan.waves[target], now)]
    if reached:
        return f"target {max(reached, key=lambda target: plan.releases[target][0])}"
    turns = [turn(plan.waves[target], position(device, target)) for target in free]
    turns = [time for time in turns if time is not None]
    return f"waits {min(turns)}" if turns else "waits -"


def rows(directory):
    """The rows of a table: plan, device, commit, time, ids of GPUs, what is expected."""
    for line in (directory / "decisions.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            plan, device, commit, now, gpus, expected = line.split(" ", 5)
            yield plan, device, commit, int(now), set() if gpus == "-" else set(gpus.split(",")), expected


def main(directory):
    wrong = 0
    for plan, device, commit, now, gpus, expected in rows(directory):
        got = decide((directory / plan).read_bytes(), device, commit, now, gpus, "rhel/9/x86_64/edge")
        if got != expected:
            print(f"not ok {plan} {device} {commit} {now}: {got}, not {expected}")
            wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
