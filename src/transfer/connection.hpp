#pragma once

#include <string>

#include <curl/curl.h>

#include "blueprint/blueprint.hpp"
#include "support/handles.hpp"

namespace edgegpu {

using CurlPtr = Handle<CURL, curl_easy_cleanup>;

/// A handle that gets `url` (http or https) as the repository's settings say: certificates,
/// proxy, user agent, limits of time. Redirects are followed to http and https alone. Only servers
/// that the repository itself names (as baseurl, metalink or mirrorlist) get its user name and
/// password. What comes is not yet taken by anybody. Throws Error
/// naming the setting that libcurl refuses.
[[nodiscard]] CurlPtr make_connection(const Repository& repository, const std::string& url);

/// Redirects that are followed.
constexpr long most_redirects = 10;

}  // namespace edgegpu
