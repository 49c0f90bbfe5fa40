"""A real Kubernetes API server with etcd on loopback, as far as applying manifests needs it: no controllers, no nodes.
scripts/make-api-server compiles both. The service account that a controller would make in each namespace is made here.
"""
import contextlib
import http.client
import json
import pathlib
import socket
import ssl
import subprocess
import time
import urllib.parse

TOKEN = "edgegpu"
START_S = 120
# What MicroShift's API server is configured with, as far as upstream has it.
PLUGINS = "OwnerReferencesPermissionEnforcement,NodeRestriction"
CONFIGURATION = """\
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
  - name: PodSecurity
    configuration:
      apiVersion: pod-security.admission.config.k8s.io/v1
      kind: PodSecurityConfiguration
      defaults: {enforce: restricted, audit: restricted, warn: restricted}
"""


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Answer:
    def __init__(self, response):
        self.status = response.status
        # 'Warning: 299 - "text"', once per warning (RFC 7234)
        self.warnings = [value.partition('"')[2].rpartition('"')[0] for value in response.headers.get_all("Warning") or []]
        content = response.read()
        try:
            self.content = json.loads(content)
        except ValueError:
            self.content = {"message": content.decode(errors="replace")}

    @property
    def refused(self):
        return self.status >= 400

    @property
    def message(self):
        return self.content.get("message", "")


class ApiServer:
    """Talks to a server as its administrator."""

    def __init__(self, port, certificate):
        self.port = port
        self.context = ssl.create_default_context(cafile=certificate)
        # The certificate that the server makes for itself has the machine's name and addresses, which need not be right.
        self.context.check_hostname = False
        self.connection = None
        self.kinds = {}

    def request(self, method, path, body=None, kind="application/json"):
        headers = {"Authorization": f"Bearer {TOKEN}", "Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = kind
        for attempt in (1, 2):
            if self.connection is None:
                self.connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=self.context, timeout=60)
            try:
                self.connection.request(method, path, body, headers)
                return Answer(self.connection.getresponse())
            except (http.client.HTTPException, ConnectionError):
                self.connection = None
                if attempt == 2:
                    raise
        raise AssertionError

    def find_kind(self, api_version, kind):
        """(name in paths, namespaced) of a kind; None if the server does not serve it."""
        if (api_version, kind) not in self.kinds:
            top = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
            for resource in self.request("GET", top).content.get("resources", []):
                if "/" not in resource["name"]:
                    self.kinds[api_version, resource["kind"]] = (resource["name"], resource["namespaced"])
        return self.kinds.get((api_version, kind))

    def path_of(self, thing):
        """None for a kind that is not served."""
        version = thing.get("apiVersion", "")
        found = self.find_kind(version, thing.get("kind", ""))
        if found is None:
            return None
        name, namespaced = found
        place = f"/namespaces/{thing['metadata'].get('namespace', 'default')}" if namespaced else ""
        own = urllib.parse.quote(str(thing["metadata"]["name"]), safe="")
        return f"/{'apis' if '/' in version else 'api'}/{version}{place}/{name}/{own}"

    def apply(self, thing, text=None, dry_run=False):
        """Server-side, with strict validation, as MicroShift does; None for a kind that is not served. `text` is what is
        sent, if not the object as JSON."""
        path = self.path_of(thing)
        if path is None:
            return None
        parameters = "?fieldManager=kubectl&force=true&fieldValidation=Strict" + ("&dryRun=All" if dry_run else "")
        return self.request("PATCH", path + parameters, (text or json.dumps(thing, ensure_ascii=False)).encode(), "application/apply-patch+yaml")

    def equip_namespace(self, name):
        """Makes what the controllers of a cluster make in each namespace."""
        for made in ({"kind": "ServiceAccount", "metadata": {"name": "default", "namespace": name}},
                     {"kind": "ConfigMap", "metadata": {"name": "kube-root-ca.crt", "namespace": name}}):
            answer = self.apply({"apiVersion": "v1", **made})
            if answer.refused:
                raise RuntimeError(f"namespace {name}: {answer.message}")

    def wait_until_ready(self, processes):
        end = time.monotonic() + START_S
        while time.monotonic() < end:
            for process in processes:
                if process.poll() is not None:
                    raise RuntimeError(f"{process.args[0]} has ended with status {process.returncode}")
            with contextlib.suppress(OSError, http.client.HTTPException):
                if self.request("GET", "/readyz").status == 200 and self.find_kind("v1", "Namespace") is not None:
                    return
            self.connection = None
            time.sleep(0.2)
        raise RuntimeError(f"the API server is not ready after {START_S} s")


@contextlib.contextmanager
def running_api_server(programs, directory):
    """`programs` has kube-apiserver and etcd; data and logs (etcd.log, kube-apiserver.log) are in `directory`."""
    programs, directory = pathlib.Path(programs), pathlib.Path(directory)
    client, peer, port = free_ports(3)
    key = directory / "service-account.key"
    subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
    (directory / "tokens").write_text(f'{TOKEN},admin,admin,"system:masters"\n', encoding="utf-8")
    (directory / "admission.yaml").write_text(CONFIGURATION, encoding="utf-8")
    etcd_url, peer_url = f"http://127.0.0.1:{client}", f"http://127.0.0.1:{peer}"
    commands = {
        "etcd": ["--data-dir", directory / "etcd", "--unsafe-no-fsync", "--listen-client-urls", etcd_url,
                 "--advertise-client-urls", etcd_url, "--listen-peer-urls", peer_url,
                 "--initial-advertise-peer-urls", peer_url, "--initial-cluster", f"default={peer_url}"],
        "kube-apiserver": ["--etcd-servers", etcd_url, "--bind-address", "127.0.0.1", "--secure-port", str(port),
                           "--cert-dir", directory / "certificates", "--token-auth-file", directory / "tokens",
                           "--authorization-mode", "Node,RBAC", "--allow-privileged", "--service-cluster-ip-range",
                           "10.43.0.0/16", "--service-account-issuer", "https://kubernetes.default.svc",
                           "--service-account-key-file", key, "--service-account-signing-key-file", key,
                           "--enable-admission-plugins", PLUGINS,
                           "--admission-control-config-file", directory / "admission.yaml"],
    }
    processes = []
    try:
        for name, arguments in commands.items():
            with open(directory / f"{name}.log", "wb") as log:
                processes.append(subprocess.Popen([programs / name, *arguments], stdout=log, stderr=log, cwd=directory))
        certificate = directory / "certificates/apiserver.crt"
        end = time.monotonic() + START_S
        while not certificate.exists() and time.monotonic() < end and processes[-1].poll() is None:
            time.sleep(0.1)
        if not certificate.exists():
            raise RuntimeError(f"the API server does not start: see {directory}/kube-apiserver.log")
        server = ApiServer(port, certificate)
        server.wait_until_ready(processes)
        yield server
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in reversed(processes):
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
