"""The policy's files, the store, and what the image's semodule makes of them. The policy is no policy: nothing of
edgegpu reads it here but its labels; semodule is a script."""
from harness import Attack, holds, refused
from paths import FOLDER

ETC = "/etc/selinux"
POLICY = f"{ETC}/targeted"
STORE = "/var/lib/selinux/targeted/active/modules"
SEMODULE = """\
#!/bin/sh
[ ! -f /etc/selinux/targeted/hostile ] || . /etc/selinux/targeted/hostile
:
"""
MODULE = """[selinux]
modules = ["hostile.te"]
"""


def make_policy(root, canaries):
    for path, text in ((f"{ETC}/config", "SELINUX=enforcing\nSELINUXTYPE=targeted\n"), (f"{POLICY}/policy/policy.33", "policy\n"),
                       (f"{ETC}/semanage.conf", "module-store = direct\n"),
                       (f"{POLICY}/contexts/files/file_contexts", "/.* system_u:object_r:any_t:s0\n"),
                       (f"{STORE}/100/base/cil", "(type any_t)\n"), (f"{STORE}/100/base/lang_ext", "cil"),
                       ("/usr/sbin/semodule", SEMODULE)):
        file = root / path[1:]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return ["%dir /etc/selinux", "/etc/selinux/*", "/var/lib/selinux", "%attr(755,root,root) /usr/sbin/semodule"]


def policy(name, script, **more):
    """A scriptlet changes the policy's files; edgegpu reads them, and rebuilds the policy."""
    return Attack(f"hostile-policy-{name}", {"post": f"{script}\n/usr/sbin/semodule -B"}, beside=("selinux-policy-hostile",),
                  header="Requires: selinux-policy-hostile\n",
                  **{"error": f"hostile-policy-{name}|/selinux|semodule|polic", "timeout": 30, **more})


def linked(name, path, to="@CANARIES@/key", **more):
    return policy(name, f"rm -rf {path}\nmkdir -p $(dirname {path})\nln -s {to} {path}", **more)


def semodule(name, script, **more):
    """The image's own semodule does it, in the copy of the store that edgegpu collects afterwards."""
    return policy(name, f"cat >{POLICY}/hostile <<'END'\n{script}\nEND", **more)


ATTACKS = [
    Attack("selinux-policy-hostile", {"post": "/usr/sbin/semodule -B"}, make_policy, status="clean",
           check=lambda result: None if (result.cat("/usr/etc/selinux/config") or "").startswith("SELINUX=")
           else "no policy in the image"),
    linked("config", f"{ETC}/config"),
    linked("config-proc", f"{ETC}/config", "/proc/self/root@CANARIES@/key"),
    linked("semanage", f"{ETC}/semanage.conf"),
    linked("contexts", f"{POLICY}/contexts/files/file_contexts"),
    linked("contexts-local", f"{POLICY}/contexts/files/file_contexts.local"),
    linked("contexts-subs", f"{POLICY}/contexts/files/file_contexts.subs_dist"),
    linked("contexts-folder", f"{POLICY}/contexts", FOLDER),
    linked("binary", f"{POLICY}/policy/policy.33"),
    linked("binary-folder", f"{POLICY}/policy", FOLDER),
    linked("store", "/var/lib/selinux", FOLDER),
    linked("store-type", "/var/lib/selinux/targeted", f"{FOLDER}/targeted"),
    linked("store-file", f"{STORE}/100/base/cil"),
    linked("store-relative", f"{STORE}/100/base/cil", "../../../../../../../../../../../..@CANARIES@/world"),
    policy("store-root", f"echo 'store-root=@CANARIES@/folder' >{ETC}/semanage.conf"),
    policy("store-root-dots", f"echo 'store-root=/var/lib/../..@CANARIES@/folder' >{ETC}/semanage.conf", status="refused"),
    policy("type-path", f"echo 'SELINUXTYPE=../../..@CANARIES@' >{ETC}/config", status="refused"),
    policy("module-link", "ln -s @CANARIES@/key /usr/share/x.pp\n/usr/sbin/semodule -i /usr/share/x.pp"),
    policy("module-fifo", "mkfifo /usr/share/x.pp\n/usr/sbin/semodule -i /usr/share/x.pp"),
    policy("module-tmp-link", "ln -s @CANARIES@/key /tmp/x.pp\n/usr/sbin/semodule -i /tmp/x.pp"),
    policy("config-fifo", f"rm {ETC}/config\nmkfifo {ETC}/config"),
    policy("semanage-fifo", f"rm {ETC}/semanage.conf\nmkfifo {ETC}/semanage.conf"),
    policy("huge", f"truncate -s 1099511627776 {POLICY}/policy/policy.33"),
    semodule("copy-link", f"ln -s @CANARIES@/key {POLICY}/planted\nln -s @CANARIES@/key {STORE}/planted"),
    semodule("copy-binary", f"rm -f {POLICY}/policy/policy.33\nln -s @CANARIES@/key {POLICY}/policy/policy.33"),
    semodule("copy-folder", f"rm -rf {POLICY}/policy\nln -s {FOLDER} {POLICY}/policy"),
    semodule("copy-semanage", f"rm -f {ETC}/semanage.conf\nln -s @CANARIES@/key {ETC}/semanage.conf"),
    semodule("copy-semanage-write", f"rm -f {ETC}/semanage.conf\nln -s {FOLDER}/config {ETC}/semanage.conf", blueprint=MODULE),
    semodule("copy-fifo", f"mkfifo {POLICY}/planted"),
    semodule("copy-swaps", f"/usr/libexec/attack swap {POLICY} {FOLDER}/targeted", status="either", error="/selinux|semodule",
             check=holds({"/usr/etc/selinux/targeted/policy/policy.33": "policy\n"}, {"/usr/etc/selinux/targeted": ("d",)})),
    semodule("copy-swaps-store", f"/usr/libexec/attack swap {STORE} {FOLDER}", status="either", error="/selinux|semodule",
             check=holds({"/usr/etc/selinux/targeted/policy/policy.33": "policy\n"})),
    semodule("copy-huge", f"truncate -s 1099511627776 {POLICY}/planted"),
    semodule("copy-deep", f"cd {POLICY}\ni=0\nwhile [ $i -lt 3000 ]; do mkdir d && cd d || break; i=$((i + 1)); done"),
    semodule("copy-locked", f"mkdir {POLICY}/locked\ntouch {POLICY}/locked/file\nchmod 0 {POLICY}/locked"),
]
# The policy's own files are no files of the image any more.
refused(ATTACKS, *(f"policy-{name}" for name in (
    "semanage", "contexts", "contexts-folder", "store", "store-type", "module-link", "module-fifo", "module-tmp-link")))
