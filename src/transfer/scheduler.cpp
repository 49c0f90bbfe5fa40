#include "transfer/scheduler.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "transfer/arrival.hpp"
#include "transfer/url.hpp"

namespace edgegpu {

namespace {

using Kind = TransferFailureKind;
using std::chrono::milliseconds;

constexpr std::size_t most_transfers = 6;
constexpr unsigned most_per_host = 3;
/// Attempts with a server that cannot be reached; one that answers gets all `retries`.
constexpr unsigned most_unreachable = 3;
constexpr milliseconds first_wait{200};
constexpr milliseconds longest_wait{10000};
/// Seconds; a server that asks to wait longer is given up.
constexpr std::int64_t longest_retry_after = 30;
/// Bytes; an attempt that made at least as much progress does not count as a retry, so that a large
/// file arrives over a bad connection.
constexpr std::uint64_t worth_another = 1U << 20U;

milliseconds wait_before(int retry) {
    milliseconds wait = first_wait;
    for (int i = 1; i < retry && wait < longest_wait; ++i) {
        wait *= 2;
    }
    return std::min(wait, longest_wait);
}

}  // namespace

TransferScheduler::TransferScheduler(const Context& ctx, const Repository& repository,
                                     const std::vector<std::string>& mirrors,
                                     const std::vector<WantedFile>& files,
                                     const OnTransferred& on_transferred)
    : ctx_(ctx),
      repository_(repository),
      mirrors_(mirrors),
      files_(files),
      on_transferred_(on_transferred),
      results_(files.size()),
      faults_(mirrors.size()),
      multi_(curl_multi_init()) {
    if (!multi_) {
        throw error("libcurl cannot start transfers");
    }
}

TransferScheduler::~TransferScheduler() {
    for (const auto& [handle, job] : running_) {
        curl_multi_remove_handle(multi_.get(), handle);
    }
}

std::vector<TransferResult> TransferScheduler::run() {
    while (!failed_) {
        ctx_.check_cancelled();
        start_ready();
        if (failed_ || (next_ == files_.size() && waiting_.empty() && running_.empty())) {
            break;
        }
        int still_running = 0;
        curl_multi_perform(multi_.get(), &still_running);
        const std::size_t before = running_.size();
        take_messages();
        if (!failed_ && running_.size() == before) {
            wait_for_something();
        }
    }
    return std::move(results_);
}

TransferScheduler::JobPtr TransferScheduler::make_job(std::size_t index) const {
    auto job = std::make_unique<Job>();
    job->index = index;
    const std::string& location = files_[index].location;
    if (is_web_url(location) || local_file(location)) {
        job->lone = {location};
    }
    job->tries.resize(mirrors_of(*job).size());
    job->out.resize(mirrors_of(*job).size());
    return job;
}

const std::vector<std::string>& TransferScheduler::mirrors_of(const Job& job) const {
    return job.lone.empty() ? mirrors_ : job.lone;
}

/// The mirror with the fewest failures, first for this file, then in this run.
std::optional<std::size_t> TransferScheduler::choose(const Job& job) const {
    std::optional<std::size_t> best;
    const auto rank = [&](std::size_t i) {
        return std::make_tuple(job.tries[i], job.lone.empty() ? faults_[i] : 0U, i);
    };
    for (std::size_t i = 0; i < job.tries.size(); ++i) {
        if (!job.out[i] && (!best || rank(i) < rank(*best))) {
            best = i;
        }
    }
    return best;
}

std::string TransferScheduler::url_of(const Job& job) const {
    return job.lone.empty() ? join_url(mirrors_[job.mirror], files_[job.index].location)
                            : job.lone.front();
}

bool TransferScheduler::has_slot(const std::string& host) const {
    const auto found = hosts_.find(host);
    return found == hosts_.end() || found->second < most_per_host;
}

void TransferScheduler::start_ready() {
    const Clock::time_point now = Clock::now();
    for (auto it = waiting_.begin(); it != waiting_.end() && running_.size() < most_transfers;) {
        JobPtr job = std::move(*it);
        it = waiting_.erase(it);
        if (job->not_before > now || !start(job)) {
            waiting_.insert(it, std::move(job));
        }
    }
    while (!failed_ && next_ < files_.size() && running_.size() < most_transfers) {
        JobPtr job = make_job(next_);
        if (!start(job)) {
            return;  // the following files most likely need the same host
        }
        ++next_;
    }
}

bool TransferScheduler::start(JobPtr& job) {
    const std::optional<std::size_t> mirror = choose(*job);
    if (!mirror) {  // a repository without mirrors
        give_up(*job);
        return true;
    }
    job->mirror = *mirror;
    const std::string url = url_of(*job);
    if (is_web_url(url) && !has_slot(origin_of(url))) {
        return false;
    }
    const WantedFile& file = files_[job->index];
    const std::string& sender = mirrors_of(*job)[job->mirror];
    if (!job->part) {
        job->part = std::make_unique<PartFile>(file.destination, file.promise);
        if (file.promise.size != 0 && job->part->size() == file.promise.size) {
            if (!finish_part(file, sender, url, *job->part)) {
                settle(std::move(job), std::nullopt, 0, false);
                return true;
            }
        }
        job->largest = job->part->size();
    }
    if (const auto local = local_file(url)) {
        auto why = copy_local(file, sender, *local, *job->part);
        record(*job, {{"url", redacted(url)}}, why);
        settle(std::move(job), std::move(why), 0, false);
        return true;
    }
    begin(std::move(job), url);
    return true;
}

void TransferScheduler::begin(JobPtr job, const std::string& url) {
    if (ctx_.offline) {
        throw error(ErrorKind::fetch, "repository '{}': {} is needed, and --offline forbids it",
                    repository_.id, redacted(url))
            .hinted("run once without --offline");
    }
    job->attempt = std::make_unique<TransferAttempt>(
        repository_, files_[job->index], mirrors_of(*job)[job->mirror], url, *job->part);
    CURL* handle = job->attempt->handle();
    if (curl_multi_add_handle(multi_.get(), handle) != CURLM_OK) {
        throw error("libcurl cannot start a transfer of {}", redacted(url));
    }
    ++hosts_[origin_of(url)];
    running_.emplace(handle, std::move(job));
}

void TransferScheduler::take_messages() {
    int left = 0;
    while (CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
        if (message->msg == CURLMSG_DONE) {
            end(message->easy_handle, message->data.result);
        }
    }
}

void TransferScheduler::end(CURL* handle, CURLcode code) {
    const auto found = running_.find(handle);
    JobPtr job = std::move(found->second);
    running_.erase(found);
    curl_multi_remove_handle(multi_.get(), handle);
    --hosts_[origin_of(url_of(*job))];
    const std::unique_ptr<TransferAttempt> attempt = std::move(job->attempt);
    std::vector<LogField> fields = attempt->fields();
    auto why = attempt->end(code);
    record(*job, std::move(fields), why);
    settle(std::move(job), std::move(why), attempt->retry_after(), attempt->continued());
}

void TransferScheduler::record(const Job& job, std::vector<LogField> fields,
                               const std::optional<TransferFailure>& why) const {
    fields.push_back({"repository", repository_.id});
    fields.push_back({"mirror", job.mirror});
    fields.push_back({"retries", job.retries});
    fields.push_back({"result", why ? why->reason : "done"});
    ctx_.log.debug("request", std::move(fields));
}

void TransferScheduler::settle(JobPtr job, std::optional<TransferFailure> why,
                               std::int64_t retry_after, bool continued) {
    if (!why) {
        TransferResult& result = results_[job->index];
        result.done = true;
        result.mirror = job->mirror;
        if (on_transferred_) {
            on_transferred_(job->index);
        }
        return;
    }
    if (why->kind == Kind::wrong && continued && !job->cleaned) {
        // The bytes of the earlier attempt may be the wrong ones: start over on the same mirror.
        job->cleaned = true;
        job->largest = 0;
        waiting_.push_back(std::move(job));
        return;
    }
    fail(std::move(job), std::move(*why), retry_after);
}

void TransferScheduler::fail(JobPtr job, TransferFailure why, std::int64_t retry_after) {
    const std::size_t mirror = job->mirror;
    ++job->tries[mirror];
    if (retry_after > longest_retry_after) {
        why.reason += fmt::format(", and asks to wait {} s", retry_after);
    }
    const bool may_pass = (why.kind == Kind::broken && retry_after <= longest_retry_after) ||
                          (why.kind == Kind::unreachable && job->tries[mirror] < most_unreachable);
    job->out[mirror] = !may_pass;
    if (job->lone.empty() && why.kind != Kind::missing) {
        ++faults_[mirror];
    }
    why.mirror = mirror;
    std::vector<TransferFailure>& failures = results_[job->index].failures;
    std::erase_if(failures, [&](const TransferFailure& old) { return old.mirror == mirror; });
    failures.push_back(std::move(why));

    const std::uint64_t size = job->part->size();
    const bool gained = size >= job->largest + worth_another;
    job->largest = std::max(job->largest, size);
    const std::optional<std::size_t> next = choose(*job);
    const bool again = next && job->tries[*next] > 0;
    if (again && !gained) {
        ++job->retries;
    }
    if (!next || job->retries > repository_.transfer.retries) {
        give_up(*job);
        return;
    }
    if (again) {
        milliseconds wait = wait_before(std::max(job->retries, 1));
        if (*next == mirror) {
            wait = std::max<milliseconds>(wait, std::chrono::seconds(retry_after));
        }
        job->not_before = Clock::now() + wait;
    }
    waiting_.push_back(std::move(job));
}

void TransferScheduler::give_up(const Job& job) {
    results_[job.index].given_up = true;
    failed_ = true;
}

void TransferScheduler::wait_for_something() {
    // Short enough to react to Ctrl-C.
    milliseconds wait{200};
    const Clock::time_point now = Clock::now();
    for (const JobPtr& job : waiting_) {
        if (job->not_before > now) {
            wait = std::min(wait, std::chrono::ceil<milliseconds>(job->not_before - now));
        }
    }
    curl_multi_poll(multi_.get(), nullptr, 0, static_cast<int>(wait.count()), nullptr);
}

}  // namespace edgegpu
