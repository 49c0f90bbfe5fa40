#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <curl/curl.h>

#include "transfer/address_guard.hpp"
#include "transfer/connection.hpp"
#include "transfer/part_file.hpp"
#include "transfer/transfer.hpp"

namespace edgegpu {

/// One request for one file. The response is appended to the part as long as it can be the expected
/// file.
class TransferAttempt {
public:
    /// The arguments must outlive this object.
    TransferAttempt(const Repository& repository, const WantedFile& file, const std::string& mirror,
                    const std::string& url, PartFile& part);
    TransferAttempt(const TransferAttempt&) = delete;
    TransferAttempt& operator=(const TransferAttempt&) = delete;

    [[nodiscard]] CURL* handle() const noexcept { return handle_.get(); }
    /// Whether the part was continued from an earlier attempt, whose bytes may be the wrong ones.
    [[nodiscard]] bool continued() const noexcept { return continued_; }
    /// Seconds of the Retry-After header; 0 without one.
    [[nodiscard]] std::int64_t retry_after() const;
    /// The log record of the request: URL, status, bytes, seconds.
    [[nodiscard]] std::vector<LogField> fields() const;
    /// Finishes the attempt, which libcurl ended with `code`: the failure, or nothing if the
    /// complete file is at its destination. Throws Error for local failures, such as a full disk.
    [[nodiscard]] std::optional<TransferFailure> end(CURLcode code);

private:
    static std::size_t on_header(char* data, std::size_t size, std::size_t count,
                                 void* self) noexcept;
    static std::size_t on_body(char* data, std::size_t size, std::size_t count,
                               void* self) noexcept;

    void take_header(std::string_view line);
    /// False: abort the request.
    bool take_body(std::string_view bytes);
    bool begin_body(std::string_view bytes);
    void refuse(TransferFailureKind kind, std::string reason);
    [[nodiscard]] TransferFailure failure(TransferFailureKind kind, std::string reason,
                                          std::string hint = "") const;
    [[nodiscard]] TransferFailure status_failure() const;
    [[nodiscard]] TransferFailure curl_failure(CURLcode code) const;
    [[nodiscard]] std::string so_far() const;

    const Repository& repository_;
    const WantedFile& file_;
    const std::string& mirror_;
    std::string url_;
    PartFile& part_;
    CurlPtr handle_;
    AddressGuard guard_;
    std::array<char, CURL_ERROR_SIZE> message_{};
    std::uint64_t header_bytes_ = 0;
    /// Content-Length and start of Content-Range of the current response; -1: not given.
    std::int64_t content_length_ = -1;
    std::int64_t range_start_ = -1;
    bool body_begun_ = false;
    bool continued_ = false;
    /// A proxy has answered 407.
    bool proxy_asked_ = false;
    std::optional<TransferFailure> refusal_;
    std::exception_ptr trouble_;
};

}  // namespace edgegpu
