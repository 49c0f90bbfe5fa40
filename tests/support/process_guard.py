#!/usr/bin/python3
"""Runs a command and leaves no process of it behind, however it ends.

Usage: process_guard.py COMMAND...

Two guards stand between the caller and the command. Each adopts what the command's processes leave behind
(it is their "child subreaper") and kills all of it when the command has ended, whichever session or process group
it is in. On SIGINT, SIGTERM or SIGHUP all of them get SIGTERM, and GRACE_S seconds to tidy up. If one guard is killed
with SIGKILL, the other one does this: the outer one has inherited the processes, the inner one is told by the kernel.
The exit status is the command's, or 128 and the signal's number.
"""
import ctypes
import os
import signal
import sys
import time

GRACE_S = 20
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LIBC = ctypes.CDLL(None, use_errno=True)


def prctl(option, value):
    if LIBC.prctl(option, value, 0, 0, 0) != 0:
        sys.exit(f"prctl {option}: {os.strerror(ctypes.get_errno())}")


def children_of():
    """Process → its children, of all processes that this one may see; zombies are none."""
    children = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                # The program's name is in parentheses, and may hold some itself.
                state, parent = file.read().rpartition(b")")[2].split()[:2]
        except OSError:  # it has ended
            continue
        if state not in (b"Z", b"X"):
            children.setdefault(int(parent), []).append(int(name))
    return children


def descendants(process):
    children, found, left = children_of(), [], [process]
    while left:
        more = children.get(left.pop(), [])
        found += more
        left += more
    return found


def signal_descendants(process, number):
    """How many of them have got it; what runs as somebody else, by sudo, cannot be sent any."""
    count = 0
    for one in descendants(process):
        try:
            os.kill(one, number)
            count += 1
        except (ProcessLookupError, PermissionError):
            pass
    return count


def kill_descendants(process):
    """Kills until there are none: one that is killed may just have started another."""
    while signal_descendants(process, signal.SIGKILL):
        time.sleep(0.05)


def status_of(wait_status):
    code = os.waitstatus_to_exitcode(wait_status)
    return code if code >= 0 else 128 - code


def start(command, new_session):
    """Runs the function in a child, which gets SIGTERM when this process dies; returns its number."""
    parent = os.getpid()
    child = os.fork()
    if child != 0:
        return child
    if new_session:
        os.setsid()
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    for number in PASSED_ON:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)
    status = 1
    try:
        status = command()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def guard(command, outer):
    """Runs the function in a child and returns its exit status when all that it started is gone."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    # What arrives before the handlers are there is kept until then.
    signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON)
    # In a session of its own, it outlives a process group that is killed as a whole.
    child = start(command, new_session=outer)
    deadline = None

    def end(_number, _frame):
        nonlocal deadline
        if deadline is not None:
            return
        # The outer one leaves all of it to the inner one, as long as that lives.
        grace = GRACE_S + 10 if outer else GRACE_S
        deadline = time.monotonic() + grace
        signal.alarm(grace)
        if outer:
            os.kill(child, signal.SIGTERM)
        else:
            signal_descendants(os.getpid(), signal.SIGTERM)

    for number in PASSED_ON:
        signal.signal(number, end)
    signal.signal(signal.SIGALRM, lambda *_: kill_descendants(os.getpid()))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)
    ended = None
    while ended != child:
        # Every process that ends here, adopted ones as well; otherwise they would stay zombies.
        ended, wait_status = os.wait()
    while deadline is not None and time.monotonic() < deadline and descendants(os.getpid()):
        time.sleep(0.05)
    signal.alarm(0)
    kill_descendants(os.getpid())
    return status_of(wait_status)


def run_guarded(command):
    """The function runs in a process of its own; its result is that process's exit status, which is returned."""
    return guard(lambda: guard(command, outer=False), outer=True)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)

    def execute():
        try:
            os.execvp(sys.argv[1], sys.argv[1:])
        except OSError as problem:
            print(f"{sys.argv[1]}: {problem.strerror}", file=sys.stderr)
            return 127

    return run_guarded(execute)


if __name__ == "__main__":
    sys.exit(main())
