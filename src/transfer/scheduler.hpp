#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <curl/curl.h>

#include "support/handles.hpp"
#include "transfer/attempt.hpp"
#include "transfer/transfer.hpp"

namespace edgegpu {

/// Runs the attempts for many files at once and decides what is tried next. Used once.
class TransferScheduler {
public:
    /// All of them must outlive this.
    TransferScheduler(const Context& ctx, const Repository& repository,
                      const std::vector<std::string>& mirrors, const std::vector<WantedFile>& files,
                      const OnTransferred& on_transferred);
    TransferScheduler(const TransferScheduler&) = delete;
    TransferScheduler& operator=(const TransferScheduler&) = delete;
    ~TransferScheduler();

    /// Until all files are here or one of them cannot be had; as transfer().
    [[nodiscard]] std::vector<TransferResult> run();

private:
    using Clock = std::chrono::steady_clock;

    /// A file that was begun and is not here yet.
    struct Job {
        std::size_t index = 0;
        /// Instead of all mirrors, where the file has a URL of its own.
        std::vector<std::string> lone;
        /// For each mirror.
        std::vector<unsigned> tries;
        std::vector<bool> out;
        std::size_t mirror = 0;
        int retries = 0;
        /// Bytes of the largest part so far: a server may send the same again and again.
        std::uint64_t largest = 0;
        /// A continued part turned out wrong and was thrown away.
        bool cleaned = false;
        Clock::time_point not_before;
        std::unique_ptr<PartFile> part;
        std::unique_ptr<TransferAttempt> attempt;
    };
    using JobPtr = std::unique_ptr<Job>;

    [[nodiscard]] JobPtr make_job(std::size_t index) const;
    [[nodiscard]] const std::vector<std::string>& mirrors_of(const Job& job) const;
    [[nodiscard]] std::optional<std::size_t> choose(const Job& job) const;
    [[nodiscard]] std::string url_of(const Job& job) const;
    [[nodiscard]] bool has_slot(const std::string& host) const;
    void start_ready();
    /// Whether it could be started; it is then running, done or waiting for another attempt.
    bool start(JobPtr& job);
    void begin(JobPtr job, const std::string& url);
    void take_messages();
    void end(CURL* handle, CURLcode code);
    void record(const Job& job, std::vector<LogField> fields,
                const std::optional<TransferFailure>& why) const;
    void settle(JobPtr job, std::optional<TransferFailure> why, std::int64_t retry_after,
                bool continued);
    void fail(JobPtr job, TransferFailure why, std::int64_t retry_after);
    void wait_for_something();

    const Context& ctx_;
    const Repository& repository_;
    const std::vector<std::string>& mirrors_;
    const std::vector<WantedFile>& files_;
    const OnTransferred& on_transferred_;
    std::vector<TransferResult> results_;
    /// How often each mirror failed in this run, to try the better ones first.
    std::vector<unsigned> faults_;
    Handle<CURLM, curl_multi_cleanup> multi_;
    std::size_t next_ = 0;
    std::list<JobPtr> waiting_;
    std::map<CURL*, JobPtr> running_;
    std::map<std::string, unsigned> hosts_;
    bool failed_ = false;
};

}  // namespace edgegpu
