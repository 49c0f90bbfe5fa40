#include "support/odd_registry.hpp"

#include <chrono>
#include <filesystem>
#include <thread>

#include "support/files/file.hpp"

namespace edgegpu::test {

namespace fs = std::filesystem;

namespace {

constexpr const char* registry_script = R"(
import gzip, hashlib, http.server, io, json, os, sys, tarfile, time

LOG, PORT = sys.argv[1:3]

def layer(name, content):
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as archive:
        info = tarfile.TarInfo(name)
        info.size = len(content)
        archive.addfile(info, io.BytesIO(content))
    return raw.getvalue()

def blob(content, kind):
    digest = "sha256:" + hashlib.sha256(content).hexdigest()
    BLOBS[digest] = content
    return {"mediaType": kind, "digest": digest, "size": len(content)}

OCI = "application/vnd.oci.image."
BLOBS = {}
TARS = [layer("small", b"small"), layer("large", os.urandom(1 << 20))]
LAYERS = [blob(gzip.compress(tar, mtime=0), OCI + "layer.v1.tar+gzip") for tar in TARS]
CONFIG = blob(json.dumps({
    "architecture": "amd64", "os": "linux",
    "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(tar).hexdigest() for tar in TARS]},
}).encode(), OCI + "config.v1+json")
MANIFEST = json.dumps({"schemaVersion": 2, "mediaType": OCI + "manifest.v1+json", "config": CONFIG,
                       "layers": LAYERS}).encode()

class Handler(http.server.BaseHTTPRequestHandler):
    def start(self, size, kind="application/octet-stream"):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(size))
        self.end_headers()

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        with open(LOG, "a") as log:
            log.write(self.path + "\n")
        parts = self.path.split("/")
        if len(parts) < 5:
            return self.start(0)
        repository, what, name = parts[2:5]
        if repository == "silent":
            time.sleep(100000)
        if what == "manifests":
            self.start(len(MANIFEST), OCI + "manifest.v1+json")
            return self.wfile.write(MANIFEST)
        content = BLOBS[name]
        if repository == "endless" and name == LAYERS[1]["digest"]:
            self.send_response(200)
            self.end_headers()
            while True:
                self.wfile.write(bytes(1 << 16))
        self.start(len(content))
        if repository == "stalls" and name == LAYERS[1]["digest"]:
            self.wfile.write(content[:len(content) // 2])
            self.wfile.flush()
            time.sleep(100000)
        self.wfile.write(content)

    def log_message(self, *arguments):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
with open(PORT + ".new", "w") as file:
    file.write(str(server.server_address[1]))
os.rename(PORT + ".new", PORT)
server.serve_forever()
)";

}  // namespace

OddRegistry::OddRegistry() {
    const fs::path script = work_.path() / "registry.py";
    const fs::path port = work_.path() / "port";
    write_file(script, registry_script);
    start({"python3", script.string(), (work_.path() / "log").string(), port.string()});
    for (int i = 0; i < 1500 && !fs::exists(port); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    port_ = std::stoi(read_file(port, 16));
}

}  // namespace edgegpu::test
