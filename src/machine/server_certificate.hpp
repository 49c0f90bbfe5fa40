#pragma once

#include <string>

namespace edgegpu {

/// A key and a certificate for a server, both PEM.
struct ServerCertificate {
    std::string key;
    std::string certificate;
};

/// Makes an EC key and a certificate signed by itself for `name`, a host name or an IP address,
/// valid from yesterday for a week. Nothing is written. Throws Error.
[[nodiscard]] ServerCertificate make_server_certificate(const std::string& name);

}  // namespace edgegpu
