"""What nothing of an image may reach: files of the builder, and its sockets."""
import contextlib
import os
import pathlib
import secrets
import shutil
import socket
import stat
import tempfile
import threading

CANARY_BEGINS = "edgegpu-canary-"


class Canaries:
    """Files of the builder that nobody may read or change, in a directory that everybody may enter."""

    def __init__(self):
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="edgegpu-hostile-", dir="/var/tmp"))
        self.place.chmod(0o755)
        self.tokens = {name: f"{CANARY_BEGINS}{name}-{secrets.token_hex(24)}"
                       for name in ("world", "key", "open", "root", "environment", "deep", "config")}
        for name, mode in (("world", 0o644), ("key", 0o600), ("open", 0o666), ("root", 0o600)):
            self.write(self.place / name, self.tokens[name], mode)
        if os.geteuid() == 0:
            os.chown(self.place / "key", 65534, 65534)
        # A directory that everybody may write to, in the shape of what edgegpu puts files into.
        for name in ("folder", "folder/rpm", "folder/1-1.x86_64", "folder/targeted", "folder/selinux", "folder/etc"):
            (self.place / name).mkdir()
            (self.place / name).chmod(0o777)
        for name in ("aux-cache", "passwd", "group", "config", "vmlinuz", "modules.dep", "rpmdb.sqlite", "uname",
                     "rpm/rpmdb.sqlite", "1-1.x86_64/vmlinuz", "targeted/x", "etc/passwd", "app", "file", "calls",
                     "hostname", "tmpfiles.conf", "policy.33", "targeted/semanage.conf"):
            self.write(self.place / "folder" / name, f"{self.tokens['deep']} {name}", 0o666)
        with contextlib.suppress(OSError):  # a file system without attributes of users
            os.setxattr(self.place / "open", "user.hostile", b"kept")
        for path, _, _ in os.walk(self.place):
            os.utime(path, (1_600_000_000, 1_600_000_000))
        self.before = self.facts()

    def write(self, path, text, mode):
        path.write_text(text + "\n")
        path.chmod(mode)
        os.utime(path, (1_600_000_000, 1_600_000_000))

    def facts(self):
        found = {}
        for folder, names, files in os.walk(self.place):
            for path in [pathlib.Path(folder), *(pathlib.Path(folder, name) for name in names + files)]:
                status = path.lstat()
                found[str(path)] = (status.st_mode, status.st_uid, status.st_gid, status.st_nlink, status.st_mtime_ns,
                                    status.st_ctime_ns, status.st_ino,
                                    path.read_bytes() if stat.S_ISREG(status.st_mode) else b"",
                                    sorted((n, os.getxattr(path, n, follow_symlinks=False))
                                           for n in os.listxattr(path, follow_symlinks=False)))
        return found

    def changed(self):
        """Paths that are not as they were at the last call."""
        before, self.before = self.before, self.facts()
        return sorted(path for path in {*before, *self.before} if before.get(path) != self.before.get(path))

    def found_in(self, data):
        return [name for name, token in self.tokens.items() if token.encode() in data]

    def remove(self):
        shutil.rmtree(self.place, ignore_errors=True)


class Listener:
    """Sockets of the builder to which nobody of an image may come."""

    def __init__(self):
        self.visits = []
        self.four = socket.create_server(("127.0.0.1", 0))
        self.port = self.four.getsockname()[1]
        self.sockets = [self.four]
        try:
            self.sockets.append(socket.create_server(("::1", self.port), family=socket.AF_INET6))
        except OSError:
            pass  # a machine without IPv6
        self.abstract = "edgegpu-hostile-" + secrets.token_hex(8)
        unix = socket.socket(socket.AF_UNIX)
        unix.bind("\0" + self.abstract)
        unix.listen()
        self.sockets.append(unix)
        for one in self.sockets:
            threading.Thread(target=self.accept, args=(one,), daemon=True).start()

    def accept(self, listening):
        while True:
            connection, _ = listening.accept()
            self.visits.append(str(listening.getsockname()))
            connection.close()
