"""Directories over HTTP, for machines of QEMU's user network."""
import http.server
import json
import threading


class Site:
    """A directory, which may be exchanged for another one; what was asked for, and the reports that devices have posted."""

    def __init__(self, directory):
        self.directory, self.asked, self.reports = directory, [], []
        site = self

        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *words):
                super().__init__(*words, directory=str(site.directory))

            def log_message(self, *_):
                pass

            def do_GET(self):
                site.asked.append(self.path)
                # Of two directories, the one that comes later may have the older files: to clients they have changed.
                del self.headers["If-Modified-Since"]
                super().do_GET()

            def do_POST(self):
                site.reports.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://10.0.2.2:{self.server.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
