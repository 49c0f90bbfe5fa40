#!/usr/bin/python3
"""For tests run by an ordinary user: a user namespace in which files of an image have their owners.

Root of the namespace is the user; the ids from 1 on are the user's in /etc/subuid and /etc/subgid. What
edgegpu makes in it has the same owners on the disk as what it makes for the user outside of it.

As a program:  user_namespace.py COMMAND...   runs a command in it, or, for root, as it is.
"""
import ctypes
import os
import pwd
import subprocess
import sys

CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
MS_REC, MS_PRIVATE = 0x4000, 0x40000
IDS = 65535  # of an image


def subordinate_range(file, user=None):
    """The first id of the user's first range of 65536 ids or more, or None."""
    account = pwd.getpwuid(os.getuid()) if user is None else pwd.getpwnam(user)
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            name, _, numbers = line.strip().partition(":")
            first, _, count = numbers.partition(":")
            if name in (account.pw_name, str(account.pw_uid)) and count.isdigit() and int(count) >= IDS:
                return int(first)
    return None


def _map(program, pid, own, file):
    first = subordinate_range(file)
    if first is None:
        sys.exit(f"{file} gives this user no range of {IDS} ids: scripts/setup says how to mend that")
    subprocess.run([program, str(pid), "0", str(own), "1", "1", str(first), str(IDS)], check=True)


def inside():
    """Whether this process is in a user namespace that is not the machine's first."""
    with open("/proc/self/uid_map", encoding="ascii") as extents:
        return extents.read().split() != ["0", "0", "4294967295"]


def enter():
    """An ordinary user becomes root of a namespace; root stays root. For a process with one thread."""
    if os.geteuid() == 0:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    inside, entered = os.pipe()
    parent = os.getpid()
    mapper = os.fork()
    if mapper == 0:  # stays outside, where newuidmap may write the maps
        status = 1
        try:
            os.close(entered)
            if os.read(inside, 1):
                _map("newuidmap", parent, os.getuid(), "/etc/subuid")
                _map("newgidmap", parent, os.getgid(), "/etc/subgid")
                status = 0
        except SystemExit as problem:
            print(problem, file=sys.stderr)
        except (OSError, subprocess.CalledProcessError) as problem:
            print(f"cannot map ids: {problem}", file=sys.stderr)
        finally:
            os._exit(status)
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0:
        sys.exit(f"cannot make a user namespace: {os.strerror(ctypes.get_errno())}")
    os.write(entered, b"x")
    os.close(entered)
    os.close(inside)
    if os.waitpid(mapper, 0)[1] != 0:
        sys.exit(1)
    os.setgroups([])
    if libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None) != 0:
        sys.exit(f"cannot mount in a user namespace: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    enter()
    os.execvp(sys.argv[1], sys.argv[1:])
