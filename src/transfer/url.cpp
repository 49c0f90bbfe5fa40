#include "transfer/url.hpp"

#include <cctype>
#include <utility>

#include <curl/curl.h>
#include <fmt/format.h>

#include "support/handles.hpp"
#include "support/text/percent_encoding.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

using UrlPtr = Handle<CURLU, curl_url_cleanup>;

/// Characters that a path may contain unescaped (RFC 3986).
bool is_path_character(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("-._~!$&'()*+,;=:@/").find(c) != std::string_view::npos;
}

std::string escaped(std::string_view path) {
    std::string url;
    for (std::size_t i = 0; i < path.size(); ++i) {
        const char c = path[i];
        if (is_path_character(c) || (c == '%' && is_percent_encoded(path.substr(i)))) {
            url += c;
        } else {
            url += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        }
    }
    return url;
}

std::string part_of(CURLU* url, CURLUPart part, unsigned flags) {
    char* raw = nullptr;
    if (curl_url_get(url, part, &raw, flags) != CURLUE_OK) {
        return "";
    }
    const Handle<char, curl_free> text(raw);
    return raw;
}

/// Null for anything but http and https.
UrlPtr parse_web_url(const std::string& url) {
    UrlPtr parsed(curl_url());
    return is_web_url(url) && curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) == CURLUE_OK
               ? std::move(parsed)
               : UrlPtr();
}

std::string host_part(CURLU* url) {
    return lower_case(part_of(url, CURLUPART_HOST, 0));
}

}  // namespace

bool is_web_url(std::string_view url) {
    return begins_with_any_case(url, "http://") || begins_with_any_case(url, "https://");
}

std::optional<std::filesystem::path> local_file(std::string_view url) {
    if (url.starts_with('/')) {
        return std::filesystem::path(url);
    }
    if (!begins_with_any_case(url, "file:")) {
        return std::nullopt;
    }
    url.remove_prefix(5);
    if (url.starts_with("//")) {
        url.remove_prefix(2);
        if (begins_with_any_case(url, "localhost/")) {
            url.remove_prefix(9);
        }
    }
    if (!url.starts_with('/')) {
        return std::nullopt;
    }
    return std::filesystem::path(percent_decoded(url));
}

std::string join_url(std::string_view base, std::string_view location) {
    const std::size_t query = base.find('?');
    std::string_view path = base.substr(0, query);
    while (path.ends_with('/')) {
        path.remove_suffix(1);
    }
    while (location.starts_with('/')) {
        location.remove_prefix(1);
    }
    // A plain path is not a URL: nothing in it is escaped.
    std::string url = fmt::format(
        "{}/{}", path, base.starts_with('/') ? std::string(location) : escaped(location));
    if (query != std::string_view::npos) {
        url += base.substr(query);
    }
    return url;
}

std::string origin_of(const std::string& url) {
    const UrlPtr parsed = parse_web_url(url);
    return parsed ? fmt::format("{}://{}:{}", part_of(parsed.get(), CURLUPART_SCHEME, 0),
                                host_part(parsed.get()),
                                part_of(parsed.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT))
                  : "";
}

std::string host_of(const std::string& url) {
    const UrlPtr parsed = parse_web_url(url);
    return parsed ? host_part(parsed.get()) : "";
}

std::string redacted(std::string_view url) {
    const std::size_t scheme = url.find("://");
    if (scheme == std::string_view::npos) {
        return std::string(url);
    }
    const std::size_t begin = scheme + 3;
    const UrlPtr parsed(curl_url());
    const bool valid = curl_url_set(parsed.get(), CURLUPART_URL, std::string(url).c_str(),
                                    CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK;
    // Invalid, for example because of a password with a slash: hide everything up to the last "@".
    const std::size_t end = valid ? url.find_first_of("/?#", begin) : std::string_view::npos;
    const std::size_t at = url.substr(begin, end - begin).rfind('@');
    std::string shown(url.substr(0, begin));
    shown += url.substr(at == std::string_view::npos ? begin : begin + at + 1);
    // A query without a name may be a token as a whole.
    const std::size_t query = shown.find('?', begin);
    if (query != std::string::npos && query + 1 < shown.size()) {
        shown.replace(query + 1, std::string::npos, "…");
    }
    return shown;
}

}  // namespace edgegpu
