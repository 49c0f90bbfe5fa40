#pragma once

#include <string>

#include <curl/curl.h>
#include <sys/socket.h>

#include "transfer/repository.hpp"

namespace edgegpu {

/// Whether an address is one of the internet: not loopback, private (RFC 1918, RFC 4193), link
/// local, shared (RFC 6598), reserved or multicast, nor an IPv6 form of such an IPv4 address. True
/// for what is neither IPv4 nor IPv6.
[[nodiscard]] bool is_public_address(const struct sockaddr& address);

/// Keeps a request to servers of the internet from reaching others. Whoever controls a repository
/// could otherwise have the build machine send requests to services of its own and of its network:
/// by redirects, lists of mirrors, xml:base, or names that resolve to such addresses.
///
/// Any address may be connected to for a server that the repository's definition names, and for a
/// proxy. Others may have an address that is not public only if the definition says so
/// (allow_private_addresses); after a redirect, if the server of the definition that the request
/// began with has one as well; without a redirect (a mirror of a list, xml:base), if a server that
/// the definition names has one, or one of its places is a local file.
class AddressGuard {
public:
    /// Watches the connections of `handle`, a request for `url`. All of them outlive this object.
    AddressGuard(const Repository& repository, const std::string& url, CURL* handle);
    AddressGuard(const AddressGuard&) = delete;
    AddressGuard& operator=(const AddressGuard&) = delete;

    /// The address that was refused, "127.0.0.1" or "localhost"; empty: none was.
    [[nodiscard]] const std::string& refused() const noexcept { return refused_; }

private:
    static curl_socket_t on_socket(void* self, curlsocktype purpose,
                                   struct curl_sockaddr* address) noexcept;
    static int on_request(void* self, char* server, char* own, int server_port,
                          int own_port) noexcept;

    [[nodiscard]] std::string current_url() const;
    [[nodiscard]] bool permits_private(const std::string& url) const;
    [[nodiscard]] bool permits(const struct sockaddr& address);

    const Repository& repository_;
    CURL* handle_;
    /// the request began at a server that the definition names
    bool began_at_own_;
    /// such a server was connected to at an address that is not public
    bool own_is_private_ = false;
    std::string refused_;
};

}  // namespace edgegpu
