#pragma once

#include <string>

#include <curl/curl.h>

#include "transfer/transfer.hpp"

namespace edgegpu {

/// The kind of failure for an HTTP status of 400 or more.
[[nodiscard]] TransferFailureKind status_kind(long status);
/// "answers 404 (not found)".
[[nodiscard]] std::string status_reason(long status);
/// "the proxy answers 407 (…)", for an answer to CONNECT.
[[nodiscard]] std::string proxy_reason(long status);
/// The hint for a status; mostly empty.
[[nodiscard]] std::string status_hint(long status);
/// The hint for a proxy that refuses.
[[nodiscard]] std::string proxy_hint();

/// A failure reported by libcurl.
struct CurlProblem {
    TransferFailureKind kind = TransferFailureKind::broken;
    std::string reason;
    std::string hint;
};

/// Describes `code`; `message` is the content of CURLOPT_ERRORBUFFER (may be empty), `began`: some
/// of a response had arrived.
[[nodiscard]] CurlProblem curl_problem(CURLcode code, const char* message, bool began);

}  // namespace edgegpu
