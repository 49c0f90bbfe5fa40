"""Attacks that a program makes from inside and tells of: handles, paths, processes, the kernel, the network."""
import os
import pathlib
import re
import time

from harness import Attack, REPORTS, reporting

TOGETHER = {"group": "reports"}


def ids_outside(suite):
    """Waits for the attack's process and says what is wrong with its owner."""
    for _ in range(2000):
        for place in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if b"hostile-own-id-marker" not in (place / "cmdline").read_bytes():
                    continue
                status = (place / "status").read_text()
            except OSError:
                continue
            ids = {int(number) for line in re.findall(r"^[UG]id:\t(.*)$", status, re.M) for number in line.split()}
            ids_of_builder = {*range(65536), os.getuid()}
            return f"it runs as {sorted(ids)} of the builder's ids" if ids & ids_of_builder else None
        time.sleep(0.005)
    return "its process was not seen"


def straight(name):
    return reporting(f"hostile-{name}", name, **TOGETHER)


def shell(name, script, **more):
    """A script that says itself what it reached."""
    return Attack(f"hostile-{name}", {"post": f"exec >{REPORTS}/hostile-{name} 2>&1\n{script}\necho end\n:"},
                  report=True, status="clean", **{**TOGETHER, **more})


ATTACKS = [
    straight("handles"), straight("paths"), straight("search"), straight("processes"), straight("descriptors"),
    straight("filtered"), straight("namespaces"), straight("sockets"), straight("control"), straight("devices"),
    straight("setid"), straight("attributes"), straight("links"), straight("chroot"),
    # The same where other programs of edgegpu stand around: before the files' owners are set, and at the end.
    Attack("hostile-handles-pre", {"pre": f"/usr/libexec/attack handles >{REPORTS}/hostile-handles-pre 2>&1\n:"},
           report=True, status="clean", **TOGETHER),
    Attack("hostile-paths-posttrans", {"posttrans": f"/usr/libexec/attack paths >{REPORTS}/hostile-paths-posttrans 2>&1\n:"},
           report=True, status="clean", **TOGETHER),
    Attack("hostile-handles-trigger", {
        "triggerin -- hostile-base": f"/usr/libexec/attack handles >{REPORTS}/hostile-handles-trigger 2>&1\n:"},
        report=True, status="clean", **TOGETHER),
    Attack("hostile-paths-filetrigger", {
        "transfiletriggerin -- /usr/libexec": f"/usr/libexec/attack paths >{REPORTS}/hostile-paths-filetrigger 2>&1\n:"},
        report=True, status="clean", **TOGETHER),
    shell("builder-kernel", """
for answer in "$(/usr/bin/uname -r)" "$(cat /proc/sys/kernel/osrelease)"; do
    [ "$answer" = @KERNEL@ ] && echo "blocked: $answer" || echo "ESCAPED: kernel $answer"
done
[ -s /proc/cmdline ] && [ -n "$(cat /proc/cmdline)" ] && echo "ESCAPED: command line $(cat /proc/cmdline)" """),
    shell("builder-name", """
[ "$(hostname)" = localhost ] || echo "ESCAPED: host name $(hostname)"
ls /sys/class/net 2>/dev/null | grep -v '^lo$' | sed 's/^/ESCAPED: interface /'
tail -n +3 /proc/net/dev 2>/dev/null | grep -v '^ *lo:' | sed 's/^/ESCAPED: interface /'
env | grep -i canary | sed 's/^/ESCAPED: /' """),
    shell("confined", """
grep '^NoNewPrivs:.*1' /proc/self/status || echo "ESCAPED: new privileges are allowed"
grep '^Seccomp:.*2' /proc/self/status || echo "ESCAPED: no filter of system calls" """),
    shell("capabilities", """
# Capabilities that nothing of an image needs: raw io, modules, tracing, mounting, network, clock, handles.
for set in CapPrm CapEff CapBnd; do
    mask=$(sed -n "s/^$set:[[:space:]]*//p" /proc/self/status)
    value=$(printf '%d' "0x$mask")
    for number in 2 9 10 11 12 13 14 15 16 17 19 20 21 22 23 24 25 26 28 30 32 33 34 35 36 37 38 39 40; do
        [ $((value >> number & 1)) = 0 ] || echo "ESCAPED: $set has capability $number"
    done
    echo "blocked: $set $mask"
done"""),
    # What the builder sees of a program of the image: an id that nobody of the builder has.
    Attack("hostile-own-id", {"post": "/bin/sh -c 'sleep 1; :' hostile-own-id-marker\n:"},
           status="clean", during=ids_outside),
]
