#include "upload/remote_claim.hpp"

#include <algorithm>
#include <ctime>
#include <random>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"
#include "support/files/proc_file.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"
#include "upload/attempts.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view claim_prefix = "upload-";
/// Where a file cannot be removed, it says that its upload has ended.
constexpr std::string_view ended_text = "ended\n";
constexpr std::uint64_t largest_claim = 4096;
constexpr std::chrono::seconds between_beats{30};
constexpr std::chrono::seconds dead_after{180};
constexpr std::chrono::seconds between_looks{3};
constexpr unsigned most_random_pause = 2000;
constexpr int claim_attempts = 5;
constexpr std::chrono::seconds claim_pause{1};

/// The same for one directory of one machine, as long as that runs: it is locked here.
std::string id_of(const PublishedState& local) {
    const struct stat status = status_of(local.directory(), local.shown());
    // Without it, it is somebody else's after a kill, and dead after some minutes.
    const std::string boot = read_proc_file("/proc/sys/kernel/random/boot_id")
                                 .value_or(std::to_string(::getpid()) + '\n');
    constexpr std::size_t digits = 16;
    return sha256_hex(fmt::format("{}{}:{}", trim(boot), status.st_dev, status.st_ino))
        .substr(0, digits);
}

std::string host_name() {
    std::string name(256, '\0');
    if (::gethostname(name.data(), name.size() - 1) != 0) {
        return "?";
    }
    name.resize(name.find('\0'));
    return name;
}

Context without_cancellation(const Context& ctx) {
    Context other = ctx;
    other.cancelled = nullptr;
    other.abandoned = nullptr;
    return other;
}

/// Also the time during which the machine was asleep.
std::chrono::seconds awake_or_asleep() {
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    return std::chrono::seconds(now.tv_sec);
}

/// "build7 (pid 4711), since 2026-11-29 12:40 UTC", of the first line.
std::string holder_in(const std::string& text) {
    return printable_line(text.substr(0, std::min<std::size_t>(text.find('\n'), 200)));
}

}  // namespace

RemoteClaim::RemoteClaim(const Context& ctx, const PublishedState& local, const std::string& remote,
                         const LockWait& wait_limit)
    : ctx_(ctx),
      scratch_(local.scratch() / "claim"),
      patient_(without_cancellation(ctx)),
      remote_(patient_, remote, {}, scratch_),
      name_(fmt::format("{}/{}{}", claims_directory, claim_prefix, id_of(local))) {
    make_directories((scratch_ / name_).parent_path());
    try {
        wait(wait_limit.value_or(default_wait_for_uploads));
    } catch (...) {
        withdraw();
        throw;
    }
    keeper_ = std::thread([this] { keep_alive(); });
}

RemoteClaim::~RemoteClaim() {
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
    }
    ended_signal_.notify_all();
    keeper_.join();
    withdraw();
}

bool RemoteClaim::may_be_lost() const {
    return lost_ || awake_or_asleep() - renewed_.load() >= dead_after;
}

void RemoteClaim::require_held() const {
    if (may_be_lost()) {
        throw error(ErrorKind::fetch,
                    "{}: this upload could not say for {} minutes that it runs, and another one "
                    "may have gone on in its place",
                    remote_.shown(),
                    std::chrono::duration_cast<std::chrono::minutes>(dead_after).count())
            .hinted(
                "was the process or the machine stopped? Look at what is there, and upload the "
                "newest repository again");
    }
}

void RemoteClaim::wait(std::chrono::seconds limit) {
    const auto began = std::chrono::steady_clock::now();
    std::map<std::string, Other> seen;
    std::minstd_rand random(static_cast<unsigned>(::getpid() + std::time(nullptr)));
    std::string said;
    while (true) {
        Attempts attempts(ctx_, claim_attempts, claim_pause);
        while (const std::optional<RcloneProblem> problem = write()) {
            if (problem->kind != RcloneProblem::Kind::passing ||
                !attempts.again(remote_.to_error("write to", *problem).message())) {
                throw remote_.to_error("write to", *problem);
            }
        }
        ctx_.check_cancelled();
        const std::map<std::string, std::string> others = read_others();
        if (others.empty()) {
            return;
        }
        // Of those that wait, the first by name stays, or they would send each other away for ever.
        if (others.begin()->first < name_) {
            withdraw();
        }
        const auto now = std::chrono::steady_clock::now();
        std::vector<std::string> dead;
        for (const auto& [name, text] : others) {
            const auto [known, is_new] = seen.try_emplace(name, Other{text, now});
            if (!is_new && known->second.text != text) {
                known->second = {text, now};
            } else if (now - known->second.since >= dead_after) {
                dead.push_back(name);
            }
        }
        if (!dead.empty()) {
            ctx_.console->warn(fmt::format(
                "{}: the upload of {} has not said anything for {} minutes, and counts as killed",
                remote_.shown(), holder_in(others.at(dead.front())),
                std::chrono::duration_cast<std::chrono::minutes>(dead_after).count()));
            remote_.remove(dead);
            continue;
        }
        const std::string holder = holder_in(others.begin()->second);
        if (now - began >= limit) {
            throw error("{}: somebody else has been uploading there for {} s: {}", remote_.shown(),
                        std::chrono::duration_cast<std::chrono::seconds>(now - began).count(),
                        holder)
                .hinted("upload again when that has ended; --lock-wait waits longer");
        }
        if (std::exchange(said, holder) != holder) {
            ctx_.console->note_now(fmt::format("{}: waiting for the upload of {}, for {} s at most",
                                               remote_.shown(), holder, limit.count()));
        }
        // Two that have seen each other do not come back together.
        ctx_.pause(std::chrono::milliseconds(between_looks) +
                   std::chrono::milliseconds(random() % most_random_pause));
    }
}

std::optional<RcloneProblem> RemoteClaim::write() {
    static const std::time_t begun = std::time(nullptr);
    write_file(scratch_ / name_, fmt::format("{} (pid {}), since {}\n{}\n", host_name(), ::getpid(),
                                             iso_time(begun), ++beat_));
    const std::chrono::seconds before = awake_or_asleep();
    std::optional<RcloneProblem> problem = remote_.put_one(scratch_ / name_, name_);
    is_there_ = is_there_ || !problem;
    if (!problem) {
        renewed_ = before;
    }
    return problem;
}

std::map<std::string, std::string> RemoteClaim::read_others() const {
    std::vector<std::string> names;
    for (const auto& [name, size] : remote_.list_directory(std::string(claims_directory))) {
        const std::string path = fmt::format("{}/{}", claims_directory, name);
        if (name.starts_with(claim_prefix) && name.find('/') == std::string::npos &&
            path != name_ && size <= largest_claim) {
            names.push_back(path);
        }
    }
    const fs::path place = scratch_ / "others";
    remove_tree(place);
    make_directories(place);
    remote_.fetch(names, place);
    std::map<std::string, std::string> others;
    for (const std::string& name : names) {
        // What has gone meanwhile has ended.
        if (fs::is_regular_file(place / name)) {
            std::string text = read_file(place / name, largest_claim);
            if (text != ended_text) {
                others.emplace(name, std::move(text));
            }
        }
    }
    return others;
}

void RemoteClaim::withdraw() {
    try {
        std::optional<RcloneProblem> problem;
        if (is_there_) {
            problem = remote_.remove_one(name_);
            is_there_ = false;
        }
        if (problem && !may_be_lost()) {
            // These credentials may not be allowed to remove anything.
            write_file(scratch_ / name_, ended_text);
            problem = remote_.put_one(scratch_ / name_, name_);
        }
        if (problem) {
            ctx_.log.info("cannot withdraw the claim", {{"reason", problem->reason}});
        }
    } catch (const Error& failure) {
        ctx_.log.info("cannot withdraw the claim", {{"reason", failure.message()}});
    }
}

void RemoteClaim::keep_alive() {
    std::unique_lock lock(mutex_);
    while (!ended_signal_.wait_for(lock, between_beats, [this] { return ended_; })) {
        if (may_be_lost()) {
            // Whoever waited goes on by now, and must not see it come back.
            lost_ = true;
            return;
        }
        // If that fails, the upload itself finds out whether it passes.
        try {
            if (const std::optional<RcloneProblem> problem = write()) {
                ctx_.log.info("cannot renew the claim", {{"reason", problem->reason}});
            }
        } catch (const Error& failure) {
            ctx_.log.info("cannot renew the claim", {{"reason", failure.message()}});
        }
    }
}

}  // namespace edgegpu
