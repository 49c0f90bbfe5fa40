#include "transfer/failure_text.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>

#include "transfer/connection.hpp"

namespace edgegpu {

namespace {

using Kind = TransferFailureKind;

struct StatusName {
    long status;
    std::string_view name;
};

constexpr std::array<StatusName, 12> status_names{{{400, "bad request"},
                                                   {401, "unauthorized"},
                                                   {403, "forbidden"},
                                                   {404, "not found"},
                                                   {407, "the proxy rejects the credentials"},
                                                   {408, "request timed out"},
                                                   {410, "gone"},
                                                   {429, "too many requests"},
                                                   {500, "internal server error"},
                                                   {502, "bad gateway"},
                                                   {503, "service unavailable"},
                                                   {504, "gateway timed out"}}};

std::string numbered(long status) {
    for (const StatusName& row : status_names) {
        if (row.status == status) {
            return fmt::format("{} ({})", status, row.name);
        }
    }
    return fmt::format("{}", status);
}

/// Whether libcurl's message may contain a URL with a password, as those about a proxy do.
bool may_tell_password(std::string_view text) {
    return text.find('@') != std::string_view::npos &&
           (text.find("://") != std::string_view::npos || text.starts_with("Unsupported proxy"));
}

}  // namespace

TransferFailureKind status_kind(long status) {
    switch (status) {
        case 404:
        case 410:
            return Kind::missing;
        case 408:
        case 425:
        case 429:
            return Kind::broken;
        default:
            // 501 and 505 are permanent, but cost no more than the allowed retries.
            return status >= 500 ? Kind::broken : Kind::refused;
    }
}

std::string status_reason(long status) {
    return "answers " + numbered(status);
}

std::string proxy_reason(long status) {
    return fmt::format("the proxy answers {}", numbered(status));
}

std::string proxy_hint() {
    return "check proxy, proxy_username and proxy_password of the repository, or http_proxy and "
           "https_proxy of the environment";
}

std::string status_hint(long status) {
    switch (status) {
        case 401:
            return "the server requires authentication: set username and password of the "
                   "repository, or add an entry to ~/.netrc";
        case 403:
            return "the server has the file but denies access: check sslclientcert and "
                   "sslclientkey (an entitlement may have expired), or username and password";
        case 407:
            return proxy_hint();
        default:
            return "";
    }
}

CurlProblem curl_problem(CURLcode code, const char* message, bool began) {
    const bool hidden = may_tell_password(message);
    if (hidden && (code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_PROXY)) {
        return {Kind::refused, "the proxy's URL is malformed or of a scheme that is not supported",
                proxy_hint()};
    }
    const std::string text = message[0] != '\0' && !hidden ? message : curl_easy_strerror(code);
    switch (code) {
        case CURLE_COULDNT_RESOLVE_HOST:
        case CURLE_COULDNT_CONNECT:
            return {Kind::unreachable, "cannot be reached: " + text, ""};
        case CURLE_COULDNT_RESOLVE_PROXY:
            return {Kind::unreachable, "the proxy cannot be reached: " + text, proxy_hint()};
        case CURLE_PROXY:
            return {Kind::refused, "the proxy refuses: " + text, proxy_hint()};
        case CURLE_OPERATION_TIMEDOUT:
            return {began ? Kind::broken : Kind::unreachable, "does not answer in time: " + text,
                    ""};
        case CURLE_TOO_MANY_REDIRECTS:
            return {Kind::wrong,
                    fmt::format("redirects more than {} times, perhaps in a loop", most_redirects),
                    ""};
        case CURLE_UNSUPPORTED_PROTOCOL:
            return {Kind::wrong, "leads to something that is neither http nor https", ""};
        case CURLE_URL_MALFORMAT:
            return {Kind::wrong, "is not a valid URL: " + text, ""};
        case CURLE_PEER_FAILED_VERIFICATION:
            return {Kind::refused, "has a certificate that cannot be trusted: " + text,
                    "set sslcacert of the repository to the certificate of its authority"};
        case CURLE_SSL_CACERT_BADFILE:
            return {Kind::refused, "sslcacert cannot be read: " + text, "check sslcacert"};
        case CURLE_SSL_CERTPROBLEM:
            return {Kind::refused, "sslclientcert or sslclientkey cannot be used: " + text,
                    "check sslclientcert and sslclientkey of the repository"};
        case CURLE_SSL_CONNECT_ERROR:
            return {
                Kind::unreachable, "no TLS connection: " + text,
                "the server may require a client certificate: set sslclientcert and sslclientkey"};
        default:
            return {began ? Kind::broken : Kind::unreachable, text, ""};
    }
}

}  // namespace edgegpu
