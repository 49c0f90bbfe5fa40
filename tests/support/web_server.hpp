#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

#include "support/rpm_fixture.hpp"

namespace edgegpu::test {

/// A server on the loopback interface that lives as long as the object, and has a directory of its
/// own for what it writes.
class ServerProcess {
public:
    ServerProcess() = default;
    ServerProcess(const ServerProcess&) = delete;
    ServerProcess& operator=(const ServerProcess&) = delete;
    ~ServerProcess() { stop(); }

    void stop();
    /// "http://127.0.0.1:PORT".
    [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
    [[nodiscard]] int port() const { return port_; }
    /// Number of lines of its log with this in them.
    [[nodiscard]] int count(const std::string& what) const;
    [[nodiscard]] std::string log() const;

protected:
    void start(const std::vector<std::string>& argv);
    /// Starts on one free port after the other until somebody listens there.
    void start_on_free_port(const std::vector<std::string>& argv, const std::string& configuration);

    TemporaryDirectory work_;
    int port_ = 0;

private:
    pid_t child_ = -1;
};

/// Serves `site` and lies about it as the first part of the path says; the rest is the file:
/// /html/ a web page with status 200; /typed/ the file as text/html; /cut/ the first half, then the
/// connection ends, ranges are obeyed; /halved/ likewise, but ranges are ignored; /endless/ bytes
/// without end; /drip/ a byte every tenth of a second; /busy/ 503 with Retry-After: 1 the first
/// time, then the file; /later/ 503 with Retry-After: 3600; /loop/ redirects to itself; /tofile/ to
/// a file of the machine; /to/PORT/ to that port of 127.0.0.1; /auth/ only for user "u" with
/// password "s3cret"; /empty/ 200 without a byte; /held/ after a tenth of a second, and the log
/// says "ACTIVE N" of how many are held; /silent/ never, and the log says "SILENT"; /plain/ the
/// file. As a proxy it refuses everybody. Its log has a line "STATUS PATH AUTH" for each request.
class OddServer : public ServerProcess {
public:
    explicit OddServer(const std::filesystem::path& site);
};

/// nginx that serves `site`; below /slow/ 100 bytes a second. With `certificates` over TLS, to who
/// has a client certificate: server.pem and server.key are its own, ca.pem says whom it trusts.
class Nginx : public ServerProcess {
public:
    explicit Nginx(const std::filesystem::path& site,
                   const std::filesystem::path& certificates = {});
};

/// tinyproxy that wants user "p" with password "pr0xy"; its log has a line for each request.
class Proxy : public ServerProcess {
public:
    Proxy();
};

}  // namespace edgegpu::test
