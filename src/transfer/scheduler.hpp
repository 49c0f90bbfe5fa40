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

/// Runs attempts for several files concurrently and decides what is tried next. For one call of
/// `run`.
class TransferScheduler {
public:
    /// The arguments must outlive this object.
    TransferScheduler(const Context& ctx, const Repository& repository,
                      const std::vector<std::string>& mirrors, const std::vector<WantedFile>& files,
                      const OnTransferred& on_transferred);
    TransferScheduler(const TransferScheduler&) = delete;
    TransferScheduler& operator=(const TransferScheduler&) = delete;
    ~TransferScheduler();

    /// Returns when all files are complete or one has failed finally; see transfer().
    [[nodiscard]] std::vector<TransferResult> run();

private:
    using Clock = std::chrono::steady_clock;

    /// A file that was started and is not complete yet.
    struct Job {
        std::size_t index = 0;
        /// The URL of a file that does not come from the mirrors; else empty.
        std::vector<std::string> lone;
        /// Failed attempts, and whether it is given up, for each mirror.
        std::vector<unsigned> tries;
        std::vector<bool> out;
        std::size_t mirror = 0;
        int retries = 0;
        /// Bytes of the largest part so far, to measure progress: a server may send the same bytes
        /// repeatedly.
        std::uint64_t largest = 0;
        /// A continued part was wrong and has been discarded once.
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
    /// False if the host has no free slot; else the job is running, done, waiting for another
    /// attempt, or failed.
    bool start(JobPtr& job);
    void begin(JobPtr job, const std::string& url);
    void take_messages();
    void end(CURL* handle, CURLcode code);
    void record(const Job& job, std::vector<LogField> fields,
                const std::optional<TransferFailure>& why) const;
    /// Ends an attempt: the job is done (without `why`), starts over, or fails.
    void settle(JobPtr job, std::optional<TransferFailure> why, std::int64_t retry_after,
                bool continued);
    /// Schedules another attempt, or ends the transfer if none is left.
    void fail(JobPtr job, TransferFailure why, std::int64_t retry_after);
    /// Ends the transfer because of this job.
    void give_up(const Job& job);
    void wait_for_something();

    const Context& ctx_;
    const Repository& repository_;
    const std::vector<std::string>& mirrors_;
    const std::vector<WantedFile>& files_;
    const OnTransferred& on_transferred_;
    std::vector<TransferResult> results_;
    /// Failures of each mirror in this run, to try the better ones first.
    std::vector<unsigned> faults_;
    Handle<CURLM, curl_multi_cleanup> multi_;
    std::size_t next_ = 0;
    std::list<JobPtr> waiting_;
    std::map<CURL*, JobPtr> running_;
    std::map<std::string, unsigned> hosts_;
    bool failed_ = false;
};

}  // namespace edgegpu
