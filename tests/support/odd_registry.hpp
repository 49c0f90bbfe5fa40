#pragma once

#include "support/web_server.hpp"

namespace edgegpu::test {

/// A registry without TLS and password that falls silent as the repository's name says, and keeps
/// the connection open: "silent" never answers a request for a manifest; "stalls" serves an image
/// for amd64 with two layers, the first whole, of the second the first half; "endless" sends
/// zeros without end as the second; "good" serves all of it. Its log has a line "PATH" for each
/// request.
class OddRegistry : public ServerProcess {
public:
    OddRegistry();

    /// "127.0.0.1:PORT"
    [[nodiscard]] std::string name() const { return "127.0.0.1:" + std::to_string(port_); }
};

}  // namespace edgegpu::test
