#include "transfer/address_guard.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include "support/handles.hpp"
#include "transfer/url.hpp"

namespace edgegpu {

namespace {

using AddressList = Handle<struct addrinfo, freeaddrinfo>;

/// The first `bits` of an IPv4 address.
struct Block {
    std::uint32_t first;
    unsigned bits;
};

/// IANA's special-purpose addresses that no server of the internet has.
constexpr std::array<Block, 14> special_v4{{{0x00000000, 8},    // this network
                                            {0x0A000000, 8},    // private
                                            {0x64400000, 10},   // shared (carriers' NAT)
                                            {0x7F000000, 8},    // loopback
                                            {0xA9FE0000, 16},   // link local: cloud metadata
                                            {0xAC100000, 12},   // private
                                            {0xC0000000, 24},   // protocol assignments
                                            {0xC0000200, 24},   // documentation
                                            {0xC0A80000, 16},   // private
                                            {0xC6120000, 15},   // benchmarks
                                            {0xC6336400, 24},   // documentation
                                            {0xCB007100, 24},   // documentation
                                            {0xE0000000, 4},    // multicast
                                            {0xF0000000, 4}}};  // reserved

bool is_public_v4(std::uint32_t address) {
    return std::ranges::none_of(special_v4, [&](const Block& block) {
        return (address ^ block.first) >> (32 - block.bits) == 0;
    });
}

bool is_public_v6(const std::array<std::uint8_t, 16>& bytes) {
    const auto v4_at = [&](std::size_t at) {
        return std::uint32_t{bytes.at(at)} << 24U | std::uint32_t{bytes.at(at + 1)} << 16U |
               std::uint32_t{bytes.at(at + 2)} << 8U | bytes.at(at + 3);
    };
    const auto begins = [&](std::initializer_list<std::uint8_t> prefix) {
        return std::equal(prefix.begin(), prefix.end(), bytes.begin());
    };
    if (begins({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}) ||
        begins({0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0})) {
        return is_public_v4(v4_at(12));  // mapped, and translated by NAT64
    }
    if (begins({0x20, 0x02})) {
        return is_public_v4(v4_at(2));  // 6to4
    }
    // Global unicast is 2000::/3; of it, documentation and Teredo's tunnels.
    return (bytes[0] & 0xe0U) == 0x20U && !begins({0x20, 0x01, 0x0d, 0xb8}) &&
           !begins({0x20, 0x01, 0, 0});
}

/// As the system's functions take a host: an IPv6 address without the brackets of URLs.
std::string without_brackets(const std::string& host) {
    const bool v6 = host.starts_with('[') && host.ends_with(']');
    return v6 ? host.substr(1, host.size() - 2) : host;
}

/// The addresses of a host, or of a literal address.
std::vector<struct sockaddr_storage> addresses_of(const std::string& bracketed) {
    const std::string host = without_brackets(bracketed);
    struct addrinfo wanted {};
    wanted.ai_socktype = SOCK_STREAM;
    struct addrinfo* found = nullptr;
    if (host.empty() || ::getaddrinfo(host.c_str(), nullptr, &wanted, &found) != 0) {
        return {};
    }
    const AddressList owned(found);
    std::vector<struct sockaddr_storage> result;
    for (const struct addrinfo* one = found; one != nullptr; one = one->ai_next) {
        struct sockaddr_storage address {};
        std::memcpy(&address, one->ai_addr, std::min<std::size_t>(one->ai_addrlen, sizeof address));
        result.push_back(address);
    }
    return result;
}

const struct sockaddr& plain(const struct sockaddr_storage& address) {
    return reinterpret_cast<const struct sockaddr&>(address);
}

std::string text_of(const struct sockaddr& address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const void* bytes = nullptr;
    if (address.sa_family == AF_INET) {
        bytes = &reinterpret_cast<const struct sockaddr_in&>(address).sin_addr;
    } else if (address.sa_family == AF_INET6) {
        bytes = &reinterpret_cast<const struct sockaddr_in6&>(address).sin6_addr;
    }
    return bytes != nullptr &&
                   ::inet_ntop(address.sa_family, bytes, text.data(), text.size()) != nullptr
               ? text.data()
               : "an unknown address";
}

/// The host of a proxy as the user writes it, with or without a scheme.
std::string proxy_host(const std::string& proxy) {
    const std::size_t scheme = proxy.find("://");
    return host_of("http://" + (scheme == std::string::npos ? proxy : proxy.substr(scheme + 3)));
}

/// Whether an address is that of a proxy that requests may go through.
bool is_proxy(const TransferSettings& settings, const struct sockaddr& address) {
    if (settings.proxy == "_none_") {
        return false;
    }
    std::vector<std::string> proxies{settings.proxy};
    for (const char* name :
         {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}) {
        if (const char* value = std::getenv(name); value != nullptr && settings.proxy.empty()) {
            proxies.emplace_back(value);
        }
    }
    return std::ranges::any_of(proxies, [&](const std::string& proxy) {
        const std::vector<struct sockaddr_storage> known = addresses_of(proxy_host(proxy));
        return std::ranges::any_of(known, [&](const struct sockaddr_storage& one) {
            return text_of(plain(one)) == text_of(address);
        });
    });
}

std::vector<std::string> named_urls(const Repository& repository) {
    std::vector<std::string> urls = repository.baseurls;
    urls.insert(urls.end(), {repository.metalink, repository.mirrorlist});
    urls.insert(urls.end(), repository.gpgkeys.begin(), repository.gpgkeys.end());
    std::erase(urls, "");
    return urls;
}

bool is_named(const Repository& repository, const std::string& url) {
    const std::string host = host_of(url);
    const std::vector<std::string> named = named_urls(repository);
    return !host.empty() &&
           std::ranges::any_of(named, [&](const std::string& own) { return host_of(own) == host; });
}

/// Whether a place that the definition names, keys aside, is on this machine or its network.
bool is_private(const Repository& repository) {
    std::vector<std::string> places = repository.baseurls;
    places.insert(places.end(), {repository.metalink, repository.mirrorlist});
    return std::ranges::any_of(places, [](const std::string& url) {
        const std::vector<struct sockaddr_storage> known = addresses_of(host_of(url));
        return local_file(url).has_value() ||
               std::ranges::any_of(known, [](const struct sockaddr_storage& one) {
                   return !is_public_address(plain(one));
               });
    });
}

/// Whether the host of a URL is, without any server of names, one that is not public.
bool names_private_host(const std::string& url) {
    const std::string host = without_brackets(host_of(url));
    if (host == "localhost" || host.ends_with(".localhost")) {
        return true;
    }
    struct sockaddr_storage address {};
    auto& v4 = reinterpret_cast<struct sockaddr_in&>(address);
    auto& v6 = reinterpret_cast<struct sockaddr_in6&>(address);
    if (::inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) {
        address.ss_family = AF_INET;
    } else if (::inet_pton(AF_INET6, host.substr(0, host.find('%')).c_str(), &v6.sin6_addr) == 1) {
        address.ss_family = AF_INET6;
    }
    return address.ss_family != 0 && !is_public_address(plain(address));
}

}  // namespace

bool is_public_address(const struct sockaddr& address) {
    if (address.sa_family == AF_INET) {
        const auto& v4 = reinterpret_cast<const struct sockaddr_in&>(address);
        return is_public_v4(ntohl(v4.sin_addr.s_addr));
    }
    if (address.sa_family == AF_INET6) {
        std::array<std::uint8_t, 16> bytes{};
        std::memcpy(bytes.data(), &reinterpret_cast<const struct sockaddr_in6&>(address).sin6_addr,
                    bytes.size());
        return is_public_v6(bytes);
    }
    return true;
}

AddressGuard::AddressGuard(const Repository& repository, const std::string& url, CURL* handle)
    : repository_(repository), handle_(handle), began_at_own_(is_named(repository, url)) {
    curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, &AddressGuard::on_socket);
    curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, static_cast<void*>(this));
    curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, &AddressGuard::on_request);
    curl_easy_setopt(handle, CURLOPT_PREREQDATA, static_cast<void*>(this));
}

std::string AddressGuard::current_url() const {
    char* url = nullptr;
    curl_easy_getinfo(handle_, CURLINFO_EFFECTIVE_URL, &url);
    return url != nullptr ? url : "";
}

/// Whether a server that is not public may be asked for `url`.
bool AddressGuard::permits_private(const std::string& url) const {
    return repository_.transfer.allow_private_addresses || is_named(repository_, url) ||
           own_is_private_ || (!began_at_own_ && is_private(repository_));
}

bool AddressGuard::permits(const struct sockaddr& address) {
    if (is_public_address(address)) {
        return true;
    }
    const std::string url = current_url();
    // A proxy's own address says nothing of where the request goes: its URL may.
    if (is_proxy(repository_.transfer, address)) {
        if (names_private_host(url) && !permits_private(url)) {
            refused_ = host_of(url);
            return false;
        }
        return true;
    }
    if (!permits_private(url)) {
        refused_ = text_of(address);
        return false;
    }
    own_is_private_ = own_is_private_ || is_named(repository_, url);
    return true;
}

curl_socket_t AddressGuard::on_socket(void* self, curlsocktype /*purpose*/,
                                      struct curl_sockaddr* address) noexcept {
    try {
        if (!static_cast<AddressGuard*>(self)->permits(address->addr)) {
            return CURL_SOCKET_BAD;
        }
    } catch (...) {
        return CURL_SOCKET_BAD;  // no memory
    }
    return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/// Requests that go over a connection that is there already, to a proxy.
int AddressGuard::on_request(void* self, char* /*server*/, char* /*own*/, int /*server_port*/,
                             int /*own_port*/) noexcept {
    auto* guard = static_cast<AddressGuard*>(self);
    try {
        const std::string url = guard->current_url();
        if (names_private_host(url) && !guard->permits_private(url)) {
            guard->refused_ = host_of(url);
            return CURL_PREREQFUNC_ABORT;
        }
    } catch (...) {
        return CURL_PREREQFUNC_ABORT;
    }
    return CURL_PREREQFUNC_OK;
}

}  // namespace edgegpu
