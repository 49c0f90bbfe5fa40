#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/source_location.hpp"
#include "support/text/enum_names.hpp"

namespace edgegpu {

/// `proxy_auth_method`, with dnf's names (dnf.conf(5)).
enum class ProxyAuthentication { any, none, basic, digest, negotiate, ntlm, digest_ie, ntlm_wb };

constexpr std::string_view enum_name(ProxyAuthentication method) {
    return nth_name(
        method, {"any", "none", "basic", "digest", "negotiate", "ntlm", "digest_ie", "ntlm_wb"});
}

/// How files of a repository are transferred, with dnf's names and meanings (dnf.conf(5)).
struct TransferSettings {
    /// HTTP authentication with the repository's server; empty: none, or from netrc.
    std::string username;
    std::string password;
    /// URL; empty: from the environment (http_proxy, https_proxy, no_proxy); "_none_": no proxy.
    std::string proxy;
    std::string proxy_username;
    std::string proxy_password;
    ProxyAuthentication proxy_auth_method = ProxyAuthentication::any;
    bool proxy_sslverify = true;
    std::string proxy_sslcacert;
    std::string proxy_sslclientcert;
    std::string proxy_sslclientkey;
    std::string user_agent;
    /// Number of retries after a temporary failure.
    int retries = 10;
    /// Seconds below `minrate` after which a transfer has failed; also the time limit for
    /// connecting.
    int timeout = 30;
    /// Minimum rate, bytes per second.
    int minrate = 1000;
    /// Whether redirects, lists of mirrors and metadata of a repository of the internet may lead to
    /// addresses that are not (transfer/address_guard.hpp).
    bool allow_private_addresses = false;
};

/// A package repository, with dnf's names and meanings (dnf.conf(5)).
struct Repository {
    std::string id;
    std::string name;
    /// URLs, with variables expanded, as in all URLs of the repository.
    std::vector<std::string> baseurls;
    std::string metalink;
    std::string mirrorlist;
    /// URLs or absolute paths of public keys.
    std::vector<std::string> gpgkeys;
    /// Whether signatures of packages are verified.
    bool gpgcheck = true;
    /// Whether the signature of repomd.xml is verified; off by default in `.repo` files.
    bool repo_gpgcheck = true;
    bool enabled = true;
    bool sslverify = true;
    std::string sslcacert;
    std::string sslclientcert;
    std::string sslclientkey;
    /// The lowest number wins, as in dnf.
    int priority = 99;
    int cost = 1000;
    std::vector<std::string> excludepkgs;
    std::vector<std::string> includepkgs;
    bool module_hotfixes = false;
    /// Whether SHA-1 checksums of metadata and packages are accepted.
    bool allow_sha1 = false;
    TransferSettings transfer;
    SourceLocation location;
};

}  // namespace edgegpu
