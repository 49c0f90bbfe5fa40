#include "support/web_server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "support/files/file.hpp"
#include "support/handles.hpp"

namespace edgegpu::test {

namespace fs = std::filesystem;

namespace {

constexpr const char* odd_script = R"(
import base64, http.server, os, sys, threading, time

SITE, LOG, PORT = sys.argv[1:4]
WANTED = "Basic " + base64.b64encode(b"u:s3cret").decode()
asked = {}
active = 0
lock = threading.Lock()

class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, status, data=b"", **headers):
        self.send_response(status)
        if "Content_Length" not in headers:
            headers["Content_Length"] = str(len(data))
        for name, value in headers.items():
            if value is not None:
                self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def file(self, data, kind="application/octet-stream"):
        begin = self.begin()
        if begin is None:
            return self.answer(200, data, Content_Type=kind)
        if begin >= len(data):
            return self.answer(416)
        self.answer(206, data[begin:], Content_Range=f"bytes {begin}-{len(data) - 1}/{len(data)}")

    def begin(self):
        asked_range = self.headers.get("Range", "")
        return int(asked_range[6:-1]) if asked_range.startswith("bytes=") and asked_range.endswith("-") else None

    def do_GET(self):
        if self.path.startswith("http://"):  # as a proxy that lets nobody in
            return self.answer(407, Proxy_Authenticate='Basic realm="x"')
        _, way, rest = (self.path + "//").split("/", 2)
        rest = rest[:-2]
        if way == "to":
            port, rest = rest.split("/", 1)
            return self.answer(302, Location=f"http://127.0.0.1:{port}/{rest}")
        path = os.path.join(SITE, rest)
        if not os.path.isfile(path) and way != "endless":
            return self.answer(404)
        data = open(path, "rb").read() if way != "endless" else b""
        half = len(data) // 2
        asked[self.path] = asked.get(self.path, 0) + 1
        if way == "html":
            return self.answer(200, b"<!DOCTYPE html><html><body>Please log in</body></html>", Content_Type="text/html")
        if way == "typed":
            return self.file(data, "text/html")
        if way == "cut" and self.begin() is None or way == "halved":
            return self.answer(200, data[:half], Content_Length=str(len(data)))
        if way == "endless":
            self.answer(200, Content_Length=None)
            while True:
                self.wfile.write(b"x" * 65536)
        if way == "drip":
            self.answer(200, Content_Length=str(len(data)))
            for i in range(len(data)):
                self.wfile.write(data[i:i + 1])
                time.sleep(0.1)
            return
        if way == "silent":
            with open(LOG, "a") as log:
                log.write("SILENT\n")
            return threading.Event().wait()
        if way == "held":
            self.hold()
        if way == "busy" and asked[self.path] == 1:
            return self.answer(503, Retry_After="1")
        if way == "later":
            return self.answer(503, Retry_After="3600")
        if way == "loop":
            return self.answer(302, Location=self.path)
        if way == "tofile":
            return self.answer(302, Location="file:///etc/hostname")
        if way == "auth" and self.headers.get("Authorization") != WANTED:
            return self.answer(401, WWW_Authenticate='Basic realm="x"')
        if way == "empty":
            return self.answer(200)
        self.file(data)

    def hold(self):
        global active
        with lock:
            active += 1
            with open(LOG, "a") as log:
                log.write(f"ACTIVE {active}\n")
        time.sleep(0.1)
        with lock:
            active -= 1

    def log_request(self, code="-", size="-"):
        with open(LOG, "a") as log:
            log.write(f"{int(code)} {self.path} {self.headers.get('Authorization', '-')}\n")

    def log_message(self, *arguments):
        pass

    def handle(self):
        try:
            super().handle()
        except ConnectionError:
            pass  # the client has heard enough

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
with open(PORT + ".new", "w") as file:
    file.write(str(server.server_address[1]))
os.rename(PORT + ".new", PORT)
server.serve_forever()
)";

void nap() {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

int free_port() {
    const Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof(address);
    if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
        throw std::runtime_error("no free port");
    }
    return ntohs(address.sin_port);
}

bool somebody_listens(int port) {
    const Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = loopback(port);
    return ::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
}

std::string with_port(std::string text, int port) {
    const std::size_t at = text.find("@PORT@");
    return at == std::string::npos ? text : text.replace(at, 6, std::to_string(port));
}

}  // namespace

void ServerProcess::start(const std::vector<std::string>& argv) {
    // Nobody stands between a test and its server, unless the test says so.
    for (const char* name :
         {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}) {
        ::unsetenv(name);
    }
    std::vector<char*> list;
    list.reserve(argv.size() + 1);
    for (const std::string& word : argv) {
        list.push_back(const_cast<char*>(word.c_str()));
    }
    list.push_back(nullptr);
    const std::string output = (work_.path() / "output").string();
    child_ = ::fork();
    if (child_ == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        const int file = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
        ::dup2(file, 1);
        ::dup2(file, 2);
        ::execvp(list[0], list.data());
        ::_exit(127);
    }
}

void ServerProcess::start_on_free_port(const std::vector<std::string>& argv,
                                       const std::string& configuration) {
    for (int attempt = 0; attempt < 10; ++attempt) {
        port_ = free_port();
        write_file(work_.path() / "conf", with_port(configuration, port_));
        start(argv);
        for (int i = 0; i < 500; ++i) {
            if (::waitpid(child_, nullptr, WNOHANG) == child_) {
                child_ = -1;  // somebody else took the port
                break;
            }
            if (somebody_listens(port_)) {
                return;
            }
            nap();
        }
        stop();
    }
    throw std::runtime_error(argv.front() +
                             " does not start: " + read_file(work_.path() / "output"));
}

void ServerProcess::stop() {
    if (child_ > 0) {
        ::kill(child_, SIGKILL);
        ::waitpid(child_, nullptr, 0);
        child_ = -1;
    }
}

std::string ServerProcess::log() const {
    const fs::path file = work_.path() / "log";
    return fs::exists(file) ? read_file(file) : "";
}

int ServerProcess::count(const std::string& what) const {
    const std::string text = log();
    int found = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        found += text.substr(begin, end - begin).find(what) != std::string::npos ? 1 : 0;
        begin = end + 1;
    }
    return found;
}

OddServer::OddServer(const fs::path& site) {
    const fs::path script = work_.path() / "server.py";
    const fs::path port = work_.path() / "port";
    write_file(script, odd_script);
    start({"python3", script.string(), site.string(), (work_.path() / "log").string(),
           port.string()});
    for (int i = 0; i < 1500 && !fs::exists(port); ++i) {
        nap();
    }
    port_ = std::stoi(read_file(port, 16));
}

Nginx::Nginx(const fs::path& site, const fs::path& certificates) {
    const std::string work = work_.path().string();
    std::string temporary;
    for (const char* kind : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"}) {
        temporary += std::string(kind) + "_temp_path " + work + "/" + kind + ";\n";
    }
    // As root, whose files in a directory of mkdtemp(3) nobody else may read.
    const std::string user = ::geteuid() == 0 ? "user root;\n" : "";
    const std::string place = certificates.string();
    const std::string tls = certificates.empty()
                                ? ""
                                : " ssl;\nssl_certificate " + place + "/server.pem;\n" +
                                      "ssl_certificate_key " + place + "/server.key;\n" +
                                      "ssl_client_certificate " + place + "/ca.pem;\n" +
                                      "ssl_verify_client on";
    start_on_free_port({"nginx", "-e", work + "/errors", "-p", work, "-c", work + "/conf"},
                       user + "daemon off;\nmaster_process off;\npid " + work +
                           "/pid;\nevents {}\nhttp {\n" + temporary + "access_log " + work +
                           "/log;\nserver {\nlisten 127.0.0.1:@PORT@" + tls + ";\nroot " +
                           site.string() + ";\nlocation /slow/ { alias " + site.string() +
                           "/; limit_rate 100; }\n}\n}\n");
}

Proxy::Proxy() {
    const std::string work = work_.path().string();
    start_on_free_port({"tinyproxy", "-d", "-c", work + "/conf"},
                       "Port @PORT@\nListen 127.0.0.1\nTimeout 60\nAllow 127.0.0.1\nLogLevel "
                       "Connect\nLogFile \"" +
                           work + "/log\"\nBasicAuth p pr0xy\n");
}

}  // namespace edgegpu::test
