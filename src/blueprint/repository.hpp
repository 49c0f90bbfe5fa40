#pragma once

#include <optional>
#include <string>
#include <vector>

#include "blueprint/choices.hpp"
#include "support/source_location.hpp"

/// Repositories: those that an image comes from, and those that its devices know.
namespace edgegpu {

/// How files of a repository are transferred, with dnf's names and meanings (dnf.conf(5)).
struct TransferSettings {
    /// HTTP authentication with the repository's server; empty: none, or what netrc says.
    std::string username;
    std::string password;
    /// URL; empty: what the environment says (http_proxy, https_proxy, no_proxy); "_none_": none.
    std::string proxy;
    std::string proxy_username;
    std::string proxy_password;
    ProxyAuthentication proxy_auth_method = ProxyAuthentication::any;
    bool proxy_sslverify = true;
    std::string proxy_sslcacert;
    std::string proxy_sslclientcert;
    std::string proxy_sslclientkey;
    std::string user_agent;
    /// Further attempts after one that failed in a way that may pass; 0 is none.
    int retries = 10;
    /// Seconds without enough bytes after which a transfer has failed.
    int timeout = 30;
    /// Bytes a second that are enough.
    int minrate = 1000;
};

/// A package repository, with dnf's names and meanings (dnf.conf(5)).
struct Repository {
    std::string id;
    std::string name;
    /// Exactly as given; `$releasever` and `$basearch` are already replaced here and in all URLs.
    std::vector<std::string> baseurls;
    std::string metalink;
    std::string mirrorlist;
    /// URLs or absolute paths of public keys.
    std::vector<std::string> gpgkeys;
    /// Package signatures are checked. On unless the blueprint says otherwise.
    bool gpgcheck = true;
    /// The signature of repomd.xml is checked. On unless the blueprint says otherwise.
    bool repo_gpgcheck = true;
    bool enabled = true;
    bool sslverify = true;
    std::string sslcacert;
    std::string sslclientcert;
    std::string sslclientkey;
    /// Lower wins, as in dnf; 99 by default.
    int priority = 99;
    int cost = 1000;
    std::vector<std::string> excludepkgs;
    std::vector<std::string> includepkgs;
    bool module_hotfixes = false;
    /// SHA-1 checksums of metadata and packages are taken. Off unless the blueprint says otherwise.
    bool allow_sha1 = false;
    TransferSettings transfer;
    SourceLocation location;
};

/// `[[customizations.repositories]]`: a repository that the device knows (not the build).
struct DeviceRepository {
    Repository repository;
    /// File below /etc/yum.repos.d, "x.repo".
    std::string filename;
    /// Keys given as text go into files of /etc/pki/rpm-gpg.
    std::vector<std::string> inline_keys;
};

/// `[customizations.rhsm.config]`; unset: as the packages have it.
struct SubscriptionRequest {
    std::optional<bool> product_id_plugin;
    std::optional<bool> subscription_manager_plugin;
    std::optional<bool> manage_repos;
    std::optional<bool> auto_enable_yum_plugins;
    std::optional<bool> auto_registration;
    SourceLocation location;
};

}  // namespace edgegpu
