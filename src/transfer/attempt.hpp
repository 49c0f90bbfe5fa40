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

#include "transfer/connection.hpp"
#include "transfer/part_file.hpp"
#include "transfer/transfer.hpp"

namespace edgegpu {

/// One request for one file. What comes goes into the part, as far as it can be what was promised.
class TransferAttempt {
public:
    /// All of them must outlive this.
    TransferAttempt(const Repository& repository, const WantedFile& file, const std::string& mirror,
                    const std::string& url, PartFile& part);
    TransferAttempt(const TransferAttempt&) = delete;
    TransferAttempt& operator=(const TransferAttempt&) = delete;

    [[nodiscard]] CURL* handle() const noexcept { return handle_.get(); }
    /// Whether it went on from bytes that came otherwise, so that these may be what is wrong.
    [[nodiscard]] bool continued() const noexcept { return continued_; }
    /// Seconds that the server asks to wait; 0: it does not.
    [[nodiscard]] std::int64_t retry_after() const;
    /// What the log gets to know of the request: URL, status, bytes, seconds.
    [[nodiscard]] std::vector<LogField> fields() const;
    /// Why the file is not here after libcurl ended with `code`; nothing: it is whole and has its
    /// name. Throws Error for this machine's own trouble.
    [[nodiscard]] std::optional<TransferFailure> end(CURLcode code);

private:
    static std::size_t on_header(char* data, std::size_t size, std::size_t count,
                                 void* self) noexcept;
    static std::size_t on_body(char* data, std::size_t size, std::size_t count,
                               void* self) noexcept;

    void take_header(std::string_view line);
    /// False: nothing more is wanted of this request.
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
    std::array<char, CURL_ERROR_SIZE> message_{};
    std::uint64_t header_bytes_ = 0;
    /// Of the response under way; -1: not said.
    std::int64_t content_length_ = -1;
    std::int64_t range_start_ = -1;
    bool body_begun_ = false;
    bool continued_ = false;
    /// A proxy answered 407 on the way.
    bool proxy_asked_ = false;
    std::optional<TransferFailure> refusal_;
    std::exception_ptr trouble_;
};

}  // namespace edgegpu
