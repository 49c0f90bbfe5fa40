"""GnuPG's background processes, which outlive the programs that start them (gpg, ostree, edgegpu, rpmsign)."""
import os
import pathlib
import signal
import time

NAMES = ("gpg-agent", "scdaemon", "dirmngr", "keyboxd")
GRACE_S = 5


def agents_below(directory):
    """The processes of the GnuPG homes in this directory; who starts them names the home."""
    top, found = pathlib.Path(directory).resolve(), []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = pathlib.Path("/proc", name, "cmdline").read_bytes().split(b"\0")
        except OSError:  # it has ended
            continue
        if os.path.basename(os.fsdecode(words[0])) in NAMES and b"--homedir" in words[:-1]:
            home = pathlib.Path(os.fsdecode(words[words.index(b"--homedir") + 1]))
            if home.resolve().is_relative_to(top):
                found.append(int(name))
    return found


def end_agents(directory):
    """Returns when none of them is left. One that is busy ends when it is done, or is killed."""
    number, limit = signal.SIGTERM, time.monotonic() + GRACE_S
    told = set()
    while left := agents_below(directory):
        if time.monotonic() > limit:
            number, told = signal.SIGKILL, set()
        for pid in set(left) - told:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass
            told.add(pid)
        time.sleep(0.01)
