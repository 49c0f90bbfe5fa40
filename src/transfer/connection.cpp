#include "transfer/connection.hpp"

#include <algorithm>
#include <mutex>

#include "support/error.hpp"
#include "transfer/url.hpp"

namespace edgegpu {

namespace {

void start_libcurl() {
    static std::once_flag once;
    std::call_once(once, [] {
        if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
            throw error("libcurl cannot be used");
        }
    });
}

unsigned long bits_of(ProxyAuthentication method) {
    switch (method) {
        case ProxyAuthentication::any:
            break;
        case ProxyAuthentication::none:
            return CURLAUTH_NONE;
        case ProxyAuthentication::basic:
            return CURLAUTH_BASIC;
        case ProxyAuthentication::digest:
            return CURLAUTH_DIGEST;
        case ProxyAuthentication::negotiate:
            return CURLAUTH_NEGOTIATE;
        case ProxyAuthentication::ntlm:
            return CURLAUTH_NTLM;
        case ProxyAuthentication::digest_ie:
            return CURLAUTH_DIGEST_IE;
        case ProxyAuthentication::ntlm_wb:
            return CURLAUTH_NTLM_WB;
    }
    return CURLAUTH_ANY;
}

/// Sets options of an easy handle; an option that libcurl rejects is reported by the name of the
/// repository's setting.
class Options {
public:
    Options(const Repository& repository, CURL* handle)
        : repository_(repository), handle_(handle) {}

    template <typename Value>
    void set(CURLoption option, Value value, const char* setting) {
        const CURLcode code = curl_easy_setopt(handle_, option, value);
        if (code != CURLE_OK) {
            throw error(ErrorKind::fetch, "repository '{}': {} cannot be used: {}", repository_.id,
                        setting, curl_easy_strerror(code))
                .traced("repository defined at " + repository_.location.text());
        }
    }
    void set_text(CURLoption option, const std::string& value, const char* setting) {
        if (!value.empty()) {
            set(option, value.c_str(), setting);
        }
    }

private:
    const Repository& repository_;
    CURL* handle_;
};

void set_proxy(Options& options, const TransferSettings& settings) {
    if (settings.proxy == "_none_") {
        options.set(CURLOPT_PROXY, "", "proxy");
        return;
    }
    options.set_text(CURLOPT_PROXY, settings.proxy, "proxy");
    options.set_text(CURLOPT_PROXYUSERNAME, settings.proxy_username, "proxy_username");
    options.set_text(CURLOPT_PROXYPASSWORD, settings.proxy_password, "proxy_password");
    options.set(CURLOPT_PROXYAUTH, bits_of(settings.proxy_auth_method), "proxy_auth_method");
    const long verify = settings.proxy_sslverify ? 1 : 0;
    options.set(CURLOPT_PROXY_SSL_VERIFYPEER, verify, "proxy_sslverify");
    options.set(CURLOPT_PROXY_SSL_VERIFYHOST, verify * 2, "proxy_sslverify");
    options.set_text(CURLOPT_PROXY_CAINFO, settings.proxy_sslcacert, "proxy_sslcacert");
    options.set_text(CURLOPT_PROXY_SSLCERT, settings.proxy_sslclientcert, "proxy_sslclientcert");
    options.set_text(CURLOPT_PROXY_SSLKEY, settings.proxy_sslclientkey, "proxy_sslclientkey");
}

/// Whether `url` is on a server that the repository's definition names, as opposed to a redirect or
/// a list of mirrors.
bool is_own(const Repository& repository, const std::string& url) {
    std::vector<std::string> named = repository.baseurls;
    named.insert(named.end(), {repository.metalink, repository.mirrorlist});
    const std::string origin = origin_of(url);
    return !origin.empty() && std::ranges::any_of(named, [&](const std::string& own) {
        return origin_of(own) == origin;
    });
}

void set_certificates(Options& options, const Repository& repository) {
    const long verify = repository.sslverify ? 1 : 0;
    options.set(CURLOPT_SSL_VERIFYPEER, verify, "sslverify");
    options.set(CURLOPT_SSL_VERIFYHOST, verify * 2, "sslverify");
    options.set_text(CURLOPT_CAINFO, repository.sslcacert, "sslcacert");
    options.set_text(CURLOPT_SSLCERT, repository.sslclientcert, "sslclientcert");
    options.set_text(CURLOPT_SSLKEY, repository.sslclientkey, "sslclientkey");
}

}  // namespace

CurlPtr make_connection(const Repository& repository, const std::string& url) {
    start_libcurl();
    CurlPtr handle(curl_easy_init());
    if (!handle) {
        throw error("libcurl cannot start a transfer");
    }
    const TransferSettings& settings = repository.transfer;
    Options options(repository, handle.get());
    options.set(CURLOPT_URL, url.c_str(), "the URL");
    options.set(CURLOPT_PROTOCOLS_STR, "http,https", "the URL");
    options.set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https", "the URL");
    options.set(CURLOPT_FOLLOWLOCATION, 1L, "the URL");
    options.set(CURLOPT_MAXREDIRS, most_redirects, "the URL");
    options.set(CURLOPT_FAILONERROR, 1L, "the URL");
    options.set(CURLOPT_NOSIGNAL, 1L, "the URL");
    options.set(
        CURLOPT_USERAGENT,
        settings.user_agent.empty() ? "edgegpu/" EDGEGPU_VERSION : settings.user_agent.c_str(),
        "user_agent");
    options.set(CURLOPT_CONNECTTIMEOUT, static_cast<long>(settings.timeout), "timeout");
    options.set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(settings.timeout), "timeout");
    // With minrate = 0 a transfer that stalls is still ended.
    options.set(CURLOPT_LOW_SPEED_LIMIT, static_cast<long>(std::max(settings.minrate, 1)),
                "minrate");
    // As in dnf, credentials are sent with the first request: servers may answer 404 instead of 401
    // without them.
    options.set(CURLOPT_HTTPAUTH, CURLAUTH_BASIC, "username");
    options.set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_OPTIONAL), "netrc");
    if (is_own(repository, url)) {
        options.set_text(CURLOPT_USERNAME, settings.username, "username");
        options.set_text(CURLOPT_PASSWORD, settings.password, "password");
    }
    set_proxy(options, settings);
    set_certificates(options, repository);
    return handle;
}

}  // namespace edgegpu
