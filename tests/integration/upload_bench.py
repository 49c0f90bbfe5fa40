"""What `edgegpu upload` uploads to: nginx with WebDAV, moto's S3, rclone's SFTP; and something between it and them that loses, cuts
and changes what passes."""
import atexit
import http.client
import http.server
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import lab_image as lab
from publish_bench import Bench, REF, SIGN

MOTO = lab.SOURCE / "build/s3-server/bin/moto_server"
# Of which a delta has little.
LARGE = random.Random(0).randbytes(100_000).hex()
MODULE = "/usr/lib/nginx/modules/ngx_http_dav_ext_module.so"


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def wait_for(port, server):
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and server.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    sys.exit(f"not ok {server.args[0]} does not answer")


def started(port, *argv, **options):
    """A server that ends with the test, and answers."""
    server = subprocess.Popen([str(word) for word in argv], stdin=subprocess.DEVNULL, **{"env": lab.PLAIN, **options})
    atexit.register(server.wait)
    atexit.register(server.terminate)
    wait_for(port, server)


class Proxy(http.server.ThreadingHTTPServer):
    """Passes requests on to a server of this machine. `rule` gets method, path and the number of the request of that method, and
    says what happens: None, a status to answer with, "drop" to end the connection without an answer, or a function that makes another body of the request's."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port):
        self.upstream, self.lock = port, threading.Lock()
        self.with_rule()
        super().__init__(("127.0.0.1", 0), Passing)
        self.port = self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def with_rule(self, rule=None, record=False):
        """Without a rule, and nothing to be recorded, uploads do not come by here: it is slow."""
        self.rule, self.counts, self.seen, self.in_use = rule, {}, [], record or rule is not None

    def decide(self, method, path):
        with self.lock:
            self.counts[method] = self.counts.get(method, 0) + 1
            self.seen.append((method, path))
            number = self.counts[method]
        return self.rule and self.rule(method, path, number)

    def handle_error(self, request, client_address):
        pass


class Passing(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def pass_on(self):
        length = self.headers.get("Content-Length")
        body = self.rfile.read(int(length)) if length else b""
        action = self.server.decide(self.command, self.path)
        if action == "drop":
            self.close_connection = True
            return None
        if isinstance(action, int):
            return self.answer(action, [], b"refused by the test")
        if action:
            body = action(body)
        upstream = http.client.HTTPConnection("127.0.0.1", self.server.upstream, timeout=60)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in ("content-length", "content-md5")}
        if length or self.command == "PUT":
            headers["Content-Length"] = str(len(body))
        upstream.request(self.command, self.path, body=body, headers=headers)
        reply = upstream.getresponse()
        content = reply.read()
        self.answer(reply.status, [pair for pair in reply.getheaders() if pair[0].lower() not in ("transfer-encoding", "connection")],
                    content)
        upstream.close()
        return None

    def answer(self, status, headers, content):
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        if not any(name.lower() == "content-length" for name, _ in headers):
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = do_PROPFIND = do_MKCOL = do_MOVE = do_COPY = do_OPTIONS = pass_on

    def log_message(self, *args):
        pass


class UploadBench(Bench):
    """A published repository, and the places that it is uploaded to; clients pull from the place `url`."""

    def __init__(self, work, checks):
        super().__init__(work, checks)
        self.dav_root = work / "dav"
        self.dav_root.mkdir()
        dav = self.serve_dav()
        self.dav, self.s3 = Proxy(dav), None
        self.config = work / "rclone.conf"
        self.urls = {"dav": f"http://127.0.0.1:{dav}/edge/repo"}
        self.remotes = {"dav": "dav:edge/repo"}
        self.config.write_text(f"[dav]\ntype = webdav\nvendor = other\nurl = http://127.0.0.1:{dav}\n")
        self.environment = {**{name: value for name, value in self.environment.items()
                               if not re.search("(?i)proxy|^RCLONE|^AWS", name)}, "RCLONE_CONFIG": str(self.config),
                            "RCLONE_LOW_LEVEL_RETRIES": "2"}
        self.url = self.urls["dav"]

    def serve_dav(self):
        port, place = free_port(), self.work / "nginx-dav"
        place.mkdir()
        (place / "nginx.conf").write_text(f"""load_module {MODULE};
daemon off;
pid {place}/pid;
error_log {place}/error.log;
{"user root;" if os.geteuid() == 0 else ""}
events {{}}
http {{
    access_log off;
    client_max_body_size 0;
    client_body_temp_path {place}/body;
    proxy_temp_path {place}/proxy;
    fastcgi_temp_path {place}/fastcgi;
    uwsgi_temp_path {place}/uwsgi;
    scgi_temp_path {place}/scgi;
    server {{
        listen 127.0.0.1:{port};
        location / {{
            root {self.dav_root};
            dav_methods PUT DELETE MKCOL COPY MOVE;
            dav_ext_methods PROPFIND OPTIONS;
            create_full_put_path on;
        }}
    }}
}}
""")
        started(port, "nginx", "-p", place, "-c", place / "nginx.conf")
        return port

    def serve_s3(self):
        port = free_port()
        with (self.work / "s3.log").open("w") as log:
            started(port, MOTO, "-H", "127.0.0.1", "-p", port, stdout=log, stderr=log)
        self.s3 = Proxy(port)
        with self.config.open("a") as config:
            config.write(f"[s3]\ntype = s3\nprovider = Other\naccess_key_id = test\nsecret_access_key = topsecretkey\n"
                         f"endpoint = http://127.0.0.1:{port}\nforce_path_style = true\nacl = public-read\n")
        self.rclone("mkdir", "s3:bucket")
        self.remotes["s3"], self.urls["s3"] = "s3:bucket/edge/repo", f"http://127.0.0.1:{port}/bucket/edge/repo"

    def serve_sftp(self):
        port, root = free_port(), self.work / "sftp"
        root.mkdir()
        with (self.work / "sftp.log").open("w") as log:
            started(port, "rclone", "serve", "sftp", root, "--addr", f"127.0.0.1:{port}", "--user", "edge", "--pass", "topsecretword",
                    stderr=log, env=self.environment)
        hidden = lab.run("rclone", "obscure", "topsecretword").strip()
        self.remotes["sftp"] = f":sftp,host=127.0.0.1,port={port},user=edge,pass={hidden}:edge/repo"
        return root, hidden

    def rclone(self, *words):
        return lab.run("rclone", *words, env=self.environment)

    def upload(self, *more, to="dav", wait=True):
        words = [str(word) for word in (lab.EDGEGPU, "--color", "never", "upload", "--repo", self.target, "--to",
                                        self.remotes.get(to, to), *more)]
        environment = {**self.environment, **({"RCLONE_CONFIG_DAV_URL": f"http://127.0.0.1:{self.dav.port}"} if self.dav.in_use else {}),
                       **({"RCLONE_CONFIG_S3_ENDPOINT": f"http://127.0.0.1:{self.s3.port}"} if self.s3 and self.s3.in_use else {})}
        process = subprocess.Popen(words, text=True, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, start_new_session=True)
        if not wait:
            return process
        out, err = process.communicate()
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def uploaded(self, name, *more, **options):
        """An upload that has to succeed: its document."""
        done = self.upload("--json", *more, **options)
        self.checks.check(name, done.returncode == 0, done.stderr[-2000:])
        return json.loads(done.stdout) if done.returncode == 0 else {"refs": [{}], "uploaded": {}, "removed": {}, "left": {}}

    def version(self, content, *more):
        """A new version in the repository that is uploaded: its checksum."""
        checksum = self.commit(content, files={"usr/lib/large": (LARGE + content).encode()})
        self.good(f"{content} is published", *SIGN, *more)
        return checksum

    def not_uploaded(self, name, words, *more, status=1, **options):
        """An upload that has to fail with these words, and to leave what is there."""
        before = self.there()
        done = self.upload(*more, **options)
        self.checks.check(f"{name}: refused", done.returncode == status and re.search(words, done.stderr), done.stderr[-2000:])
        self.checks.equal(f"{name}: nothing has changed", self.there(), before)

    def there(self, to="dav"):
        """Path → size of what a place has."""
        return {entry["Path"]: entry["Size"] for entry in json.loads(self.rclone("lsjson", "-R", "--files-only", self.remotes[to]))}

    def here(self):
        """The same of the files of the repository that clients read."""
        files = {str(path.relative_to(self.target)): path.stat().st_size for path in self.target.rglob("*") if path.is_file()}
        return {path: size for path, size in files.items() if not path.startswith((".lock", "tmp/", "state/", "edgegpu-locks/"))}

    def remote(self, client, summary=True):
        shutil.rmtree(client, ignore_errors=True)
        lab.run("ostree", "init", f"--repo={client}", "--mode=bare-user")
        lab.run("ostree", f"--repo={client}", "remote", "add", "--set=gpg-verify=true",
                f"--set=gpg-verify-summary={'true' if summary else 'false'}", f"--gpg-import={lab.LAB}/RPM-GPG-KEY-lab", "edge", self.url)

    def mirrored(self, name):
        """A mirror of what clients find there is whole."""
        mirror = self.work / "mirror"
        shutil.rmtree(mirror, ignore_errors=True)
        lab.run("ostree", "init", f"--repo={mirror}", "--mode=archive")
        lab.run("ostree", f"--repo={mirror}", "remote", "add", "--no-gpg-verify", "edge", self.url)
        lab.run("ostree", f"--repo={mirror}", "pull", "--mirror", "--depth=-1", "edge", env=self.environment)
        fsck = subprocess.run(["ostree", f"--repo={mirror}", "fsck", "-q"], check=False, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        self.checks.check(f"{name}: a mirror of it is whole", fsck.returncode == 0, fsck.stdout)

    def no_rclone_left(self):
        """rclone ends with the program that started it."""
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            found = [entry for entry in os.listdir("/proc") if entry.isdigit() and self.is_ours(entry)]
            if not found:
                return True
            time.sleep(0.05)
        return False

    def is_ours(self, pid):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as words:
                argv = words.read().split(b"\0")
        except OSError:
            return False
        return argv[0].endswith(b"rclone") and b"--use-json-log" in argv and str(self.work).encode() in b" ".join(argv)


def kill(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
