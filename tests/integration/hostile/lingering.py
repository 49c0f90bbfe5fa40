"""Programs that do not end, end what they see, or stay behind; and those that take all there is."""
from harness import KERNEL, PASSWD, Attack, holds
from paths import FOLDER, OWNED, payload_file

SWAP = "/usr/libexec/attack swap"
KERNEL_KEPT = holds({f"/usr/lib/modules/{KERNEL}/vmlinuz": "a kernel\n"}, {f"/usr/lib/modules/{KERNEL}": ("d",)})
PLAIN = holds({"/usr/etc/passwd": PASSWD})
# A scriptlet that takes too much is ended and named; what it has taken is given back.
SHORT = ("--program-timeout", "4")


def lingering(name, script, kind="post", **more):
    return Attack(f"hostile-{name}", {kind: f"{script}\n:"}, **{"error": f"hostile-{name}", **more})


def greedy(name, script, **more):
    return Attack(f"hostile-{name}", {"post": script}, status="refused",
                  **{"error": f"hostile-{name}", "arguments": SHORT, "timeout": 40, **more})


ATTACKS = [
    # left behind, and swapping what the next stages use
    # A link is what it is; nothing was read or written through it, which the canaries show.
    lingering("swap-owned", f"mkdir -p /usr/share/owned\n{SWAP} /usr/share/owned {FOLDER}", "pre", check=PLAIN),
    Attack("hostile-swap-owner", {"pre": f"{SWAP} /usr/share/owned {FOLDER}"}, payload_file("/usr/share/owned/app", attribute=OWNED),
           error="hostile-swap-owner.*/usr/share/owned|^error: /usr/share/owned", status="either",
           check=holds({"/usr/share/owned/app": "x\n"}, {"/usr/share/owned": ("d",), "/usr/share/owned/app": ("-", "04755", "500", "500")})),
    lingering("swap-etc", f"{SWAP} /etc {FOLDER}/etc", error=r"^error: /etc(\.spare)?\b", status="either",
              check=holds({"/usr/etc/passwd": PASSWD}, {"/usr/etc": ("d",)})),
    lingering("swap-modules", f"{SWAP} /usr/lib/modules/@KERNEL@ {FOLDER}/1-1.x86_64", "posttrans", status="either",
              error="/usr/lib/modules|kernel", check=KERNEL_KEPT),
    lingering("swap-rpmdb", f"{SWAP} /usr/share/rpm {FOLDER}/rpm", "posttrans", status="either", error="/usr/share/rpm",
              check=holds({}, {"/usr/share/rpm": ("d",), "/usr/share/rpm/rpmdb.sqlite": ("-",)})),
    lingering("swap-kept", f"{SWAP} /run/edgegpu-record/kept {FOLDER}", status="either",
              error="hostile-swap-kept.* damaged /run/edgegpu-record", check=PLAIN),
    lingering("swap-record", "printf '2\\0semodule\\0-B\\0' >>/run/edgegpu-record/calls\n"
                             f"{SWAP} /run/edgegpu-record/calls @CANARIES@/key",
              error="hostile-swap-record.* damaged /run/edgegpu-record|semodule", status="either", check=PLAIN),
    lingering("writes-later", "exec >/dev/null 2>&1 </dev/null\n(setsid /bin/sh -c 'while :; do echo late >/etc/late; "
                              "echo late >/usr/share/late; usleep 1000; done' hostile-straggler) &"),
    lingering("keeps-stdout", "(setsid sleep 600 hostile-straggler) &", status="clean", timeout=30),
    lingering("kills-all", "kill -9 -1\nkill -9 1\nkill -STOP 1\nkill -TERM 1\nkill -9 $PPID"),
    lingering("stops-all", "kill -STOP -1\nkill -STOP 1", arguments=SHORT, timeout=30),
    lingering("closes-stdout", "exec >&- 2>&- <&-", status="clean"),
    lingering("floods-stdout", "head -c 300000000 /dev/zero | tr '\\0' x", status="clean", timeout=60),
    lingering("floods-lines", "yes \"$(printf '\\033[31mred\\007')\" | head -n 200000\nexit 1", status="refused",
              check=lambda result: "control characters in the output" if "\x1b" in result.stderr or "\x07" in result.stderr
              else None),
    lingering("exits", "exit 77", status="refused"),
    lingering("signals-itself", "kill -SEGV $$", status="refused"),
    lingering("pretends", "echo 'bwrap: Creating new namespace failed'\nexit 1", status="refused"),
    # takes all there is
    greedy("sleeper", "sleep 1000"),
    greedy("spinner", "while :; do :; done"),
    greedy("ignores-signals", "trap '' TERM INT HUP QUIT\nwhile :; do sleep 1; done"),
    greedy("fork-bomb", "bomb() { bomb | bomb & }\nbomb\nsleep 1000"),
    # Long before its time is up: what the builder looks at must not take longer than these need to go on.
    greedy("fork-storm", "exec /usr/libexec/attack fork", arguments=("--program-timeout", "300"), timeout=60,
           error=r"hostile-fork-storm.* started more than \d+ processes"),
    greedy("many-sleepers", "while :; do sleep 1000 & done"),
    greedy("endless-writer", "cat /dev/zero >/usr/share/hostile/endless"),
    greedy("endless-writer-tmp", "cat /dev/zero >/tmp/endless\ncat /dev/zero >/run/endless\ncat /dev/zero >/dev/shm/endless\nsleep 1000"),
    greedy("endless-record", "cat /dev/zero >/run/edgegpu-record/calls\nsleep 1000"),
    greedy("endless-output", "yes"),
    greedy("memory", "exec /usr/libexec/attack memory"),
    greedy("endless-files", "cd /usr/share/hostile\nexec /usr/libexec/attack many endless"),
]
