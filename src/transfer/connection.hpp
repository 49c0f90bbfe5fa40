#pragma once

#include <string>

#include <curl/curl.h>

#include "support/handles.hpp"
#include "transfer/repository.hpp"

namespace edgegpu {

using CurlPtr = Handle<CURL, curl_easy_cleanup>;

/// A handle for `url` (http or https) with the repository's settings: certificates, proxy, user
/// agent, timeouts. Redirects are followed to http and https only. User name and password are sent
/// only to servers that the repository names as baseurl, metalink or mirrorlist. Callbacks for
/// header and body are left to the caller. Throws Error naming the setting that libcurl rejects.
[[nodiscard]] CurlPtr make_connection(const Repository& repository, const std::string& url);

/// Maximum number of redirects.
constexpr long most_redirects = 10;

}  // namespace edgegpu
