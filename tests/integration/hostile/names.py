"""Names, sizes and shapes of files that no sane package has."""
import os

from harness import Attack, refused

NAMES = "/usr/share/hostile/names"


def scripted(name, script, kind="post", **more):
    return Attack(f"hostile-{name}", {kind: f"mkdir -p {NAMES}\ncd {NAMES}\n{script}\n:"},
                  **{"error": f"hostile-{name}|{NAMES}|/usr/share/hostile", **more})


def no_escapes(result):
    """Control characters of a name must not reach the terminal."""
    found = [c for c in "\x1b\x07\x08\x9b" if c in result.stderr]
    return f"control characters in the output: {found!r}" if found else None


def in_commit(*paths):
    def check(result):
        if result.status != 0:
            return None
        there = result.list("/usr/share/hostile")
        missing = [path for path in paths if path not in there]
        return f"not in the commit: {missing}" if missing else None
    return check


def payload(*names):
    def make(root, canaries):
        folder = os.fsencode(root / "usr/share/hostile-names")
        os.makedirs(folder)
        for name in names:
            with open(os.path.join(folder, name), "wb") as file:
                file.write(b"x\n")
        return ["/usr/share/hostile-names"]
    return make


def attribute_check(result):
    """The mark of an opaque directory, set by hand, is no file's content; nobody's attribute is in the commit."""
    if result.status != 0:
        return None
    return None if "/usr/share/hostile/opaque/kept" in result.list("/usr/share/hostile") else "a directory was emptied"


ATTACKS = [
    scripted("name-newline", r"""touch "$(printf 'a\nb')" "$(printf 'x\n0644 root')" """, check=no_escapes),
    scripted("name-escape", r"""touch "$(printf '\033]0;owned\007')" "$(printf '\033[2J')" "$(printf 'a\bb')" "$(printf '\302\233')" """,
             check=no_escapes),
    scripted("name-escape-special", r"""mkfifo "$(printf '\033]0;owned\007fifo')" """, check=no_escapes),
    scripted("name-escape-var", r"""touch "/var/lib/$(printf '\033[31mred\nC /x 0644 - - - /etc/shadow')" """, check=no_escapes),
    scripted("name-bytes", r"""touch "$(printf '\377\376\200')" "$(printf '\300\257')" """, check=no_escapes),
    scripted("name-long", "name=$(head -c 255 /dev/zero | tr '\\0' a)\ntouch $name"),
    scripted("name-odd", r"""touch -- '-rf' '*' '?' ' ' '$(id)' '`id`' '%n%s' '"' "'" '\' '..a' '...' """),
    scripted("path-4096", "name=$(head -c 250 /dev/zero | tr '\\0' a)\ni=0\nwhile [ $i -lt 15 ]; do mkdir $name && cd $name || break;"
                          " i=$((i + 1)); done\ntouch file"),
    scripted("path-8192", "name=$(head -c 250 /dev/zero | tr '\\0' a)\ni=0\nwhile [ $i -lt 40 ]; do mkdir $name && cd $name || break;"
                          " i=$((i + 1)); done\ntouch file", timeout=60),
    scripted("deep", "i=0\nwhile [ $i -lt 10000 ]; do mkdir d && cd d || break; i=$((i + 1)); done", timeout=120),
    scripted("sparse", "truncate -s 1099511627776 sparse", timeout=60),
    scripted("many", "/usr/libexec/attack many", timeout=120),
    scripted("loops", "ln -s . self\nln -s .. up\nln -s loop2 loop1\nln -s loop1 loop2\nmkdir a\nln -s ../a a/a"),
    scripted("hard-links", "touch one\ni=0\nwhile [ $i -lt 500 ]; do ln one $i; i=$((i + 1)); done"),
    scripted("modes", "mkdir locked\ntouch locked/inside\nchmod 0 locked\ntouch none\nchmod 0 none\ntouch every\nchmod 7777 every",
             check=in_commit(f"{NAMES}/locked/inside", f"{NAMES}/none", f"{NAMES}/every"), status="clean"),
    scripted("owners", "touch high\nchown 65533:65533 high\ntouch higher\nchown 65534 higher\nchown 65536 higher\n"
                       "chown 4000000000 higher\n:"),
    scripted("socket", "/usr/libexec/attack socket\nmkfifo fifo", check=no_escapes, status="clean"),
    scripted("opaque", "mkdir -p /usr/share/hostile/opaque\ntouch /usr/share/hostile/opaque/kept\n"
                       "/usr/libexec/attack opaque /usr/share/hostile/opaque",
             check=attribute_check),
    scripted("whiteout", "mknod /usr/share/hostile/target c 0 0 2>/dev/null\nmknod gone c 0 0 2>/dev/null\n"
                         "mknod /etc/passwd.gone c 0 0 2>/dev/null"),
    scripted("work", "for place in /work /upper /.work /overlay /var/lib/overlay; do mkdir -p $place 2>/dev/null; done\n"
                     "rmdir /work /upper /.work /overlay /var/lib/overlay", status="clean"),
    scripted("top-level", "touch '/etc/../planted'\nmkdir '/ '\n", error="a commit cannot contain this path|/planted", status="refused"),
    scripted("usr-etc", "mkdir -p /usr/etc\nln -s @CANARIES@/key /usr/etc/shadow", status="refused", error="/usr/etc"),
    # rpmbuild itself refuses a name with a newline or another control character of ASCII, or one that is not UTF-8.
    Attack("hostile-payload-escape", {}, payload(b"\xc2\x9b31m"),
           error="hostile-payload-escape|/usr/share/hostile-names", check=no_escapes),
    Attack("hostile-payload-long", {}, payload(b"a" * 255), status="clean"),
    Attack("hostile-payload-device", {}, lambda root, canaries: ["%dev(b,8,0) %attr(666,root,root) /usr/share/disk"],
           status="refused", error="hostile-payload-device"),
    Attack("hostile-payload-setid", {}, lambda root, canaries: make_setid(root), status="clean",
           check=lambda result: None if result.list("/usr/share/setid").get("/usr/share/setid", ("", ""))[1] == "06755"
           else "the mode is not the package's"),
]


def make_setid(root):
    (root / "usr/share").mkdir(parents=True)
    (root / "usr/share/setid").write_text("x\n")
    return ["%attr(6755,root,root) /usr/share/setid"]
# Names that a commit cannot hold, and paths that no program can open.
refused(ATTACKS, "name-bytes", "path-8192", "deep")
