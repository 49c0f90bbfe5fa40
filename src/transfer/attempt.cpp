#include "transfer/attempt.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "transfer/arrival.hpp"
#include "transfer/failure_text.hpp"
#include "transfer/url.hpp"

namespace edgegpu {

namespace {

using Kind = TransferFailureKind;

/// More than any legitimate server sends, redirects included.
constexpr std::uint64_t most_header_bytes = 256U << 10U;

bool same_name(std::string_view a, std::string_view b) {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
               return std::tolower(static_cast<unsigned char>(x)) ==
                      std::tolower(static_cast<unsigned char>(y));
           });
}

/// The number at the beginning of `text`; -1 if there is none.
std::int64_t leading_number(std::string_view text) {
    std::int64_t number = -1;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

long status_of(CURL* handle) {
    long status = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

}  // namespace

TransferAttempt::TransferAttempt(const Repository& repository, const WantedFile& file,
                                 const std::string& mirror, const std::string& url, PartFile& part)
    : repository_(repository),
      file_(file),
      mirror_(mirror),
      url_(redacted(url)),
      part_(part),
      handle_(make_connection(repository, url)),
      guard_(repository, url, handle_.get()) {
    CURL* handle = handle_.get();
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, message_.data());
    curl_easy_setopt(handle, CURLOPT_PRIVATE, static_cast<void*>(this));
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, &TransferAttempt::on_header);
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, static_cast<void*>(this));
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &TransferAttempt::on_body);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, static_cast<void*>(this));
    if (part_.size() > 0 && !file.promise.checksum) {
        part_.restart();  // parts of two servers might not fit together
    }
    if (part_.size() > 0) {
        // Not CURLOPT_RESUME_FROM, which fails if the server sends the whole file instead.
        curl_easy_setopt(handle, CURLOPT_RANGE, fmt::format("{}-", part_.size()).c_str());
    }
}

std::int64_t TransferAttempt::retry_after() const {
    curl_off_t seconds = 0;
    curl_easy_getinfo(handle_.get(), CURLINFO_RETRY_AFTER, &seconds);
    return std::max<std::int64_t>(seconds, 0);
}

std::vector<LogField> TransferAttempt::fields() const {
    curl_off_t bytes = 0;
    curl_off_t microseconds = 0;
    char* final_url = nullptr;
    curl_easy_getinfo(handle_.get(), CURLINFO_SIZE_DOWNLOAD_T, &bytes);
    curl_easy_getinfo(handle_.get(), CURLINFO_TOTAL_TIME_T, &microseconds);
    curl_easy_getinfo(handle_.get(), CURLINFO_EFFECTIVE_URL, &final_url);
    std::vector<LogField> fields{{"url", url_},
                                 {"status", status_of(handle_.get())},
                                 {"bytes", bytes},
                                 {"seconds", static_cast<double>(microseconds) / 1e6}};
    if (final_url != nullptr && redacted(final_url) != url_) {
        fields.push_back({"redirected_to", redacted(final_url)});
    }
    if (continued_) {
        fields.push_back({"continued", true});
    }
    return fields;
}

std::size_t TransferAttempt::on_header(char* data, std::size_t size, std::size_t count,
                                       void* self) noexcept {
    auto* attempt = static_cast<TransferAttempt*>(self);
    try {
        attempt->header_bytes_ += size * count;
        if (attempt->header_bytes_ > most_header_bytes) {
            attempt->refuse(Kind::wrong, "sends headers without end");
            return 0;
        }
        attempt->take_header({data, size * count});
        return size * count;
    } catch (...) {
        attempt->trouble_ = std::current_exception();
        return 0;
    }
}

std::size_t TransferAttempt::on_body(char* data, std::size_t size, std::size_t count,
                                     void* self) noexcept {
    auto* attempt = static_cast<TransferAttempt*>(self);
    try {
        return attempt->take_body({data, size * count}) ? size * count : 0;
    } catch (...) {
        attempt->trouble_ = std::current_exception();
        return 0;
    }
}

void TransferAttempt::take_header(std::string_view line) {
    if (line.starts_with("HTTP/")) {  // the first line of a response; there is one per redirect
        content_length_ = -1;
        range_start_ = -1;
        proxy_asked_ = proxy_asked_ || line.find(" 407") != std::string_view::npos;
        return;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
        return;
    }
    const std::string_view name = line.substr(0, colon);
    std::string_view value = line.substr(colon + 1);
    value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
    if (same_name(name, "Content-Length")) {
        content_length_ = leading_number(value);
    } else if (same_name(name, "Content-Range") && value.starts_with("bytes ")) {
        range_start_ = leading_number(value.substr(6));
    }
}

bool TransferAttempt::begin_body(std::string_view bytes) {
    const long status = status_of(handle_.get());
    const bool is_rest = status == 206;
    if (status != 200 && !is_rest) {
        refuse(Kind::wrong, fmt::format("answers {} instead of the file", status));
        return false;
    }
    if (is_rest && range_start_ != static_cast<std::int64_t>(part_.size())) {
        refuse(Kind::broken, "sends a different part of the file than requested");
        part_.restart();
        return false;
    }
    continued_ = is_rest && part_.size() > 0;
    if (!is_rest) {
        part_.restart();
    }
    const Promise& promise = file_.promise;
    const bool size_fits =
        content_length_ < 0 || promise.size == 0 ||
        part_.size() + static_cast<std::uint64_t>(content_length_) == promise.size;
    if (looks_like_web_page(bytes) && (!size_fits || !promise.checksum)) {
        refuse(Kind::wrong, "answers with a web page instead of the file");
        return false;
    }
    if (!size_fits) {
        refuse(Kind::wrong, fmt::format("has {} bytes, but {} promises {}",
                                        part_.size() + static_cast<std::uint64_t>(content_length_),
                                        promise.promiser, promise.size));
        refusal_->of_file = true;
        return false;
    }
    return true;
}

bool TransferAttempt::take_body(std::string_view bytes) {
    if (!body_begun_) {
        body_begun_ = true;
        if (!begin_body(bytes)) {
            return false;
        }
    }
    if (!part_.append(bytes.data(), bytes.size())) {
        const Promise& promise = file_.promise;
        refuse(Kind::wrong, promise.size != 0
                                ? fmt::format("sends more than the {} bytes that {} promises",
                                              promise.size, promise.promiser)
                                : fmt::format("sends more than {} bytes, the limit for such a file",
                                              promise.limit));
        return false;
    }
    return true;
}

void TransferAttempt::refuse(TransferFailureKind kind, std::string reason) {
    refusal_ = failure(kind, std::move(reason));
}

TransferFailure TransferAttempt::failure(TransferFailureKind kind, std::string reason,
                                         std::string hint) const {
    TransferFailure why;
    why.kind = kind;
    why.url = url_;
    char* final_url = nullptr;
    curl_easy_getinfo(handle_.get(), CURLINFO_EFFECTIVE_URL, &final_url);
    if (final_url != nullptr && origin_of(redacted(final_url)) != origin_of(url_)) {
        why.url += fmt::format(" (redirected to {})", redacted(final_url));
    }
    why.reason = std::move(reason);
    why.hint = std::move(hint);
    return why;
}

std::string TransferAttempt::so_far() const {
    return file_.promise.size != 0 ? fmt::format("{} of {} bytes", part_.size(), file_.promise.size)
                                   : fmt::format("{} bytes", part_.size());
}

TransferFailure TransferAttempt::status_failure() const {
    const long status = status_of(handle_.get());
    if (status == 401 && proxy_asked_) {
        // tinyproxy answers 401 to a wrong password.
        return failure(Kind::refused,
                       status_reason(status) + " after the proxy asked for authentication",
                       proxy_hint());
    }
    return failure(status_kind(status), status_reason(status), status_hint(status));
}

TransferFailure TransferAttempt::curl_failure(CURLcode code) const {
    long proxy_status = 0;
    curl_easy_getinfo(handle_.get(), CURLINFO_HTTP_CONNECTCODE, &proxy_status);
    if (proxy_status >= 400) {
        return failure(proxy_status >= 500 ? Kind::broken : Kind::refused,
                       proxy_reason(proxy_status), proxy_hint());
    }
    const bool began = body_begun_ || header_bytes_ > 0;
    CurlProblem problem = curl_problem(code, message_.data(), began);
    if (code == CURLE_OPERATION_TIMEDOUT && began) {
        problem.reason =
            fmt::format("sends less than {} bytes a second for {} s, after {}",
                        repository_.transfer.minrate, repository_.transfer.timeout, so_far());
    } else if (problem.kind == Kind::broken) {
        problem.reason = fmt::format("broke off after {}: {}", so_far(), problem.reason);
    }
    return failure(problem.kind, problem.reason, problem.hint);
}

std::optional<TransferFailure> TransferAttempt::end(CURLcode code) {
    if (trouble_) {
        std::rethrow_exception(trouble_);
    }
    if (refusal_) {
        return refusal_;
    }
    if (code != CURLE_OK && !guard_.refused().empty()) {
        return failure(
            Kind::wrong,
            fmt::format("leads to {}, an address that is not of the internet", guard_.refused()),
            "a repository of the internet must not lead the build machine into its own "
            "network; if it is meant to, set allow_private_addresses = true for it");
    }
    if (code == CURLE_HTTP_RETURNED_ERROR) {
        if (status_of(handle_.get()) == 0) {  // the proxy did not even connect
            return curl_failure(code);
        }
        if (status_of(handle_.get()) == 416) {  // the part is already as long as the file
            part_.restart();
            return failure(Kind::broken, "has no more than what an earlier attempt left");
        }
        return status_failure();
    }
    if (code != CURLE_OK) {
        return curl_failure(code);
    }
    const long status = status_of(handle_.get());
    if (!body_begun_ && status != 200) {
        return failure(Kind::wrong, fmt::format("answers {} instead of the file", status));
    }
    if (!body_begun_) {
        part_.restart();  // an empty file
    }
    if (part_.size() < file_.promise.size && content_length_ < 0) {
        // Without Content-Length, libcurl takes a closed connection for the end of the file.
        return failure(Kind::broken, fmt::format("broke off after {}", so_far()));
    }
    return finish_part(file_, mirror_, failure(Kind::wrong, "").url, part_);
}

}  // namespace edgegpu
