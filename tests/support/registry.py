"""A real registry (Debian's docker-registry) on loopback, with TLS and a password, and a way to it that breaks."""
import crypt
import pathlib
import socket
import subprocess
import threading
import time

USER, PASSWORD = "edge", "a password of the test"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def make_certificate(directory, name):
    """A certificate for localhost that signs itself; returns its path and that of its key."""
    certificate, key = directory / f"{name}.crt", directory / f"{name}.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate],
                   check=True, capture_output=True)
    return certificate, key


class Registry:
    """Runs until `stop`; its storage is below `directory`."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.port = free_port()
        self.name = f"localhost:{self.port}"
        self.storage = self.directory / "storage"
        self.certificate, key = make_certificate(self.directory, "registry")
        users = self.directory / "htpasswd"
        users.write_text(f"{USER}:{crypt.crypt(PASSWORD, '$2y$05$' + 'a' * 22)}\n")
        configuration = self.directory / "registry.yml"
        configuration.write_text(
            f"version: 0.1\nlog: {{level: warn}}\nstorage: {{filesystem: {{rootdirectory: {self.storage}}}}}\n"
            f"auth: {{htpasswd: {{realm: test, path: {users}}}}}\n"
            f"http: {{addr: '127.0.0.1:{self.port}', tls: {{certificate: {self.certificate}, key: {key}}}}}\n")
        with open(self.directory / "registry.log", "wb") as log:
            self.process = subprocess.Popen(["docker-registry", "serve", configuration], stdout=log, stderr=log)
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise RuntimeError((self.directory / "registry.log").read_text())

    def stop(self):
        self.process.kill()
        self.process.wait()

    def blob(self, digest):
        digest = digest.removeprefix("sha256:")
        return self.storage / "docker/registry/v2/blobs/sha256" / digest[:2] / digest / "data"


class BreakingWay:
    """Passes connections on to a port, and cuts those after which a server has sent `after` bytes: the first `cuts`."""

    def __init__(self, port, after, cuts):
        self.target, self.after, self.cuts, self.made = port, after, cuts, 0
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.name = f"localhost:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.target))
            threading.Thread(target=self._pass, args=(client, server, False), daemon=True).start()
            threading.Thread(target=self._pass, args=(server, client, True), daemon=True).start()

    def _cut(self, sent):
        with self.lock:
            if sent < self.after or self.made >= self.cuts:
                return False
            self.made += 1
            return True

    def _pass(self, source, target, may_cut):
        sent = 0
        try:
            while data := source.recv(65536):
                target.sendall(data)
                sent += len(data)
                if may_cut and self._cut(sent):
                    break
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def stop(self):
        self.listener.close()
