#pragma once

#include <string>

#include <curl/curl.h>

#include "transfer/transfer.hpp"

namespace edgegpu {

/// What an HTTP status of 400 or more means for a transfer.
[[nodiscard]] TransferFailureKind status_kind(long status);
/// "answers 404 (not found)".
[[nodiscard]] std::string status_reason(long status);
/// The same for a proxy's answer to CONNECT.
[[nodiscard]] std::string proxy_reason(long status);
/// What the user can do about it; mostly empty.
[[nodiscard]] std::string status_hint(long status);
/// What the user can do about a proxy that refuses.
[[nodiscard]] std::string proxy_hint();

/// A failure that libcurl found.
struct CurlProblem {
    TransferFailureKind kind = TransferFailureKind::broken;
    std::string reason;
    std::string hint;
};

/// What a code of libcurl means; `message` is its own (may be empty), `began`: the server had
/// answered something.
[[nodiscard]] CurlProblem curl_problem(CURLcode code, const char* message, bool began);

}  // namespace edgegpu
