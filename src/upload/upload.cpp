#include "upload/upload.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "support/error.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"
#include "upload/attempts.hpp"
#include "upload/published_state.hpp"
#include "upload/rclone.hpp"
#include "upload/remote_claim.hpp"
#include "upload/remote_state.hpp"
#include "upload/summary_trust.hpp"
#include "upload/upload_plan.hpp"

namespace edgegpu {

namespace {

constexpr int most_attempts_to_send = 3;
constexpr std::chrono::seconds pause_before_sending{1};
/// Each attempt may send for hours.
constexpr std::chrono::hours patience_of_sending{1000};

class Uploading {
public:
    Uploading(const Context& ctx, const UploadRequest& request, const PublishedState& local,
              const RcloneRemote& remote, const RemoteClaim& claim)
        : ctx_(ctx), request_(request), local_(local), remote_(remote), claim_(claim) {}

    /// Looks at what is there, and finds out what is to be done.
    void plan() {
        there_ = read_heads(remote_, remote_.list(), local_.scratch());
        if (there_.files.empty()) {
            require_empty();
        }
        require_repository(remote_, there_);
        if (!request_.overwrite) {
            require_ours(local_, remote_, there_);
        }
        require_signed_heads(ctx_, local_);
        require_trusted_summary(ctx_, local_, remote_, there_, request_.overwrite);
        plan_ = plan_upload(ctx_, local_, remote_, there_, request_.verify);
        if (plan_.wrong_headers != 0) {
            ctx_.console->note(fmt::format(
                "{}: {} of the files there have another Cache-Control than they should: they are "
                "sent again",
                remote_.shown(), plan_.wrong_headers));
        }
        changes_heads_ = plan_.changes_heads();
        std::set<std::string> deltas(plan_.late_superblocks.begin(), plan_.late_superblocks.end());
        for (const auto& [step, paths] : plan_.missing) {
            total_ += paths.size();
            if (is_immutable(step)) {
                local_.verify(ctx_, paths);
            } else if (step == UploadStep::delta_parts || step == UploadStep::superblocks) {
                for (const std::string& path : paths) {
                    deltas.insert(superblock_of_part(path));
                }
            }
        }
        local_.verify_deltas(ctx_, deltas);
        total_ += plan_.late_superblocks.size();
    }

    /// What clients do not ask for yet. Parts of deltas are sent with contents: neither refers to
    /// anything.
    void put_contents() {
        remote_.remove(plan_.replaced_superblocks);
        put({UploadStep::contents, UploadStep::delta_parts});
        put({UploadStep::directories});
        // What follows may replace what clients have.
        require_unchanged();
        put({UploadStep::commits, UploadStep::commit_metadata, UploadStep::superblocks,
             UploadStep::delta_indexes, UploadStep::config});
    }

    /// What clients ask for first.
    void put_heads() {
        if (changes_heads_) {
            require_unchanged();
            set_times();
            put({UploadStep::refs, UploadStep::summary});
            remote_.remove(plan_.stale_summary);
        }
        plan_.missing[UploadStep::superblocks] = std::move(plan_.late_superblocks);
        put({UploadStep::superblocks});
        claim_.require_held();
        if (changes_heads_) {
            require_one_state();
        }
    }

    void remove_superfluous() {
        const bool removes = may_remove();
        if (removes) {
            claim_.require_held();
            require_unchanged();
        }
        FileCount& count = removes ? result_.removed : result_.left;
        for (const std::string& path : plan_.superfluous) {
            ++count.files;
            count.bytes += there_.files.find(path)->second;
        }
        if (&count == &result_.left) {
            return;
        }
        // Those of one step at a time: nothing loses what it refers to.
        for (auto begin = plan_.superfluous.begin(); begin != plan_.superfluous.end();) {
            const auto step = step_of(*begin);
            const auto end =
                std::find_if(begin, plan_.superfluous.end(),
                             [&](const std::string& path) { return step_of(path) != step; });
            remote_.remove({begin, end});
            begin = end;
        }
    }

    UploadResult result() {
        result_.remote = remote_.shown();
        for (const auto& [ref, checksum] : local_.refs()) {
            const std::string before = there_.head(std::string(heads_prefix) + ref);
            result_.refs.push_back({ref, checksum, std::string(trim_end(before))});
            if (!is_sha256(result_.refs.back().before)) {
                result_.refs.back().before.clear();
            }
        }
        return std::move(result_);
    }

    [[nodiscard]] const FileCount& uploaded() const { return result_.uploaded; }
    [[nodiscard]] const FileCount& removed() const { return result_.removed; }

private:
    /// Uploads the files of some steps, all of one directory, in this order, and compares what has
    /// arrived; those that have not arrived, again.
    void put(const std::vector<UploadStep>& steps) {
        const std::filesystem::path directory = local_.directory_of(steps.front());
        const bool large = steps.front() == UploadStep::contents;
        Attempts attempts(ctx_, most_attempts_to_send, pause_before_sending, patience_of_sending);
        while (true) {
            std::vector<std::string> sent;
            std::optional<RcloneProblem> problem;
            UploadStep last = steps.front();
            for (auto step = steps.begin(); step != steps.end() && !problem; ++step) {
                last = *step;
                problem = send(directory, last, sent);
            }
            const std::vector<std::string> left = remote_.differing(
                directory, sent,
                large && !request_.verify ? Comparison::known : Comparison::content);
            const FileCount all = count_of(sent);
            const FileCount again = count_of(left);
            result_.uploaded.files += all.files - again.files;
            result_.uploaded.bytes += all.bytes - again.bytes;
            if (left.empty() && !problem) {
                return;
            }
            const Error failure = problem ? failed(last, *problem) : not_kept(directory, left);
            if (!attempts.again(failure.message())) {
                throw Error(failure);
            }
            for (const std::string& path : left) {
                plan_.missing[step_of(path).value()].push_back(path);
            }
        }
    }

    /// Uploads what is missing of a step, and adds it to `sent`. Returns what may be over at
    /// another attempt.
    std::optional<RcloneProblem> send(const std::filesystem::path& directory, UploadStep step,
                                      std::vector<std::string>& sent) {
        const std::vector<std::string> paths = std::exchange(plan_.missing[step], {});
        if (paths.empty()) {
            return std::nullopt;
        }
        claim_.require_held();
        const FileCount before = count_of(sent);
        auto problem =
            remote_.put(directory, paths, fmt::format("Cache-Control: {}", cache_control_of(step)),
                        [&](std::uint64_t files, std::uint64_t bytes) {
                            show(step, before.files + files, before.bytes + bytes);
                        });
        if (problem && problem->kind != RcloneProblem::Kind::passing) {
            throw failed(step, *problem);
        }
        sent.insert(sent.end(), paths.begin(), paths.end());
        return problem;
    }

    [[nodiscard]] FileCount count_of(const std::vector<std::string>& paths) const {
        FileCount count{paths.size(), 0};
        for (const std::string& path : paths) {
            count.bytes += local_.files().find(path)->second;
        }
        return count;
    }

    void show(UploadStep step, std::uint64_t files, std::uint64_t bytes) const {
        ctx_.console->progress(
            result_.uploaded.files + files, total_,
            fmt::format("files, {}, {}", human_size(result_.uploaded.bytes + bytes),
                        name_of(step)));
    }

    [[nodiscard]] Error failed(UploadStep step, const RcloneProblem& problem) const {
        return remote_.to_error(fmt::format("upload {} to", name_of(step)), problem);
    }

    [[nodiscard]] Error not_kept(const std::filesystem::path& directory,
                                 const std::vector<std::string>& paths) const {
        for (const std::string& path : paths) {
            if (!std::filesystem::exists(directory / path)) {
                return error("{}/{}: has been removed while it was to be uploaded", local_.shown(),
                             path)
                    .hinted("upload again");
            }
        }
        return error(ErrorKind::fetch,
                     "{}: {} of the files that were uploaded are not there as they were sent, {} "
                     "among them",
                     remote_.shown(), paths.size(), paths.front())
            .hinted(
                "the server, or something before it, cuts, changes or loses files. Clients that "
                "have a version keep it: upload again when it is mended");
    }

    void set_times() const {
        std::vector<std::string> heads;
        for (const UploadStep step : {UploadStep::refs, UploadStep::summary}) {
            if (const auto found = plan_.missing.find(step); found != plan_.missing.end()) {
                heads.insert(heads.end(), found->second.begin(), found->second.end());
            }
        }
        set_times_of_heads(local_, remote_, heads);
    }

    /// The heads that the remote has or is to have, also where a listing has not had them.
    [[nodiscard]] RemoteState heads_now() const {
        FileSizes asked{{"summary", 1}, {"summary.sig", 1}, {"config", 1}};
        for (const auto& [path, content] : there_.heads) {
            asked.emplace(path, 1);
        }
        for (const auto& [ref, checksum] : local_.refs()) {
            asked.emplace(std::string(heads_prefix) + ref, 1);
        }
        return read_heads(remote_, std::move(asked), local_.scratch());
    }

    /// "No such directory" may be one server's word, or that of something before it, about one
    /// directory among many.
    void require_empty() const {
        const RemoteState now = heads_now();
        if (!now.heads.empty()) {
            throw error(ErrorKind::fetch,
                        "{}: its listing has nothing, but {} is there: nothing that is there could "
                        "be compared",
                        remote_.shown(), now.heads.begin()->first)
                .hinted("the server, or something before it, does not list all files: try again");
        }
    }

    /// Somebody else's upload may have ended since.
    void require_unchanged() {
        RemoteState now = heads_now();
        now.heads.erase("config");
        std::set<std::string> paths;
        for (const auto* heads : {&there_.heads, &now.heads}) {
            for (const auto& [path, content] : *heads) {
                paths.insert(path);
            }
        }
        for (const std::string& path : paths) {
            if (step_of(path) != UploadStep::config && now.head(path) != there_.head(path) &&
                now.head(path) != local_.content(path)) {
                throw error("{}: {} has changed during this upload: somebody else uploads there",
                            remote_.shown(), path)
                    .hinted(
                        "upload from one place at a time: upload again when the other one has "
                        "ended");
            }
        }
    }

    /// Of two uploads that wrote their refs and summaries in the same moment, a ref may be that of
    /// the one and the summary that of the other; whoever ends last sees it.
    void require_one_state() const {
        Attempts attempts(ctx_, most_attempts_to_send, pause_before_sending);
        while (true) {
            const RemoteState now = heads_now();
            std::set<std::string> others;
            for (const auto& [path, content] : now.heads) {
                // Refs that only the remote has are kept, or are removed later.
                if (content != local_.content(path) &&
                    (local_.files().contains(path) || step_of(path) == UploadStep::summary)) {
                    others.insert(path);
                }
            }
            for (const auto& [path, size] : local_.files()) {
                const UploadStep step = step_of(path).value();
                if ((step == UploadStep::refs || step == UploadStep::summary) &&
                    !now.heads.contains(path)) {
                    others.insert(path);
                }
            }
            if (others.empty()) {
                return;
            }
            const Error failure =
                error(ErrorKind::fetch,
                      "{}: after this upload, {} is not as this repository has it: somebody else "
                      "uploads there, or the server answers with what it had before",
                      remote_.shown(), fmt::join(others, ", "));
            // A server may take a moment.
            if (!attempts.again(failure.message())) {
                throw Error(failure).hinted(
                    "devices may get the ref of one upload and the summary of another: upload "
                    "again, from one place at a time");
            }
        }
    }

    /// Clients, and caches on the way to them, may go by what they have read before.
    [[nodiscard]] bool may_remove() const {
        if (!request_.delete_after || plan_.superfluous.empty()) {
            return false;
        }
        if (request_.delete_after->count() == 0) {
            return true;
        }
        std::vector<std::string> heads{"summary"};
        for (const auto& [ref, checksum] : local_.refs()) {
            heads.push_back(std::string(heads_prefix) + ref);
        }
        const auto newest = remote_.newest(heads);
        // Some servers know no times, and say 1970 or 2000.
        const auto known = std::chrono::system_clock::time_point(std::chrono::years(40));
        return !changes_heads_ && newest && *newest > known &&
               *newest + *request_.delete_after <= std::chrono::system_clock::now();
    }

    const Context& ctx_;
    const UploadRequest& request_;
    const PublishedState& local_;
    const RcloneRemote& remote_;
    const RemoteClaim& claim_;
    RemoteState there_;
    UploadPlan plan_;
    /// clients will see another version; asked before anything is sent
    bool changes_heads_ = false;
    std::uint64_t total_ = 0;
    UploadResult result_;
};

UploadResult upload_in_order(const Context& ctx, Stages& stages, const UploadRequest& request) {
    stages.begin("compare", "comparing");
    const PublishedState local(ctx, request.repository, request.lock_wait);
    const RcloneProgram program = find_rclone(ctx);
    ctx.log.info("rclone", {{"file", program.file.string()}, {"version", program.version}});
    const RcloneRemote remote(ctx, request.remote, request.bandwidth, local.scratch());
    require_place(remote);
    const RemoteClaim claim(ctx, local, request.remote, request.lock_wait);
    Uploading uploading(ctx, request, local, remote, claim);
    uploading.plan();
    warn_of_plus_in_deltas(ctx, local, remote);
    stages.end(fmt::format("{} files", local.files().size()));

    stages.begin("upload", "uploading");
    uploading.put_contents();
    uploading.put_heads();
    stages.end(fmt::format("{} files, {}", uploading.uploaded().files,
                           human_size(uploading.uploaded().bytes)));
    stages.begin_quietly("remove", "removing what is not used any more after uploading");
    uploading.remove_superfluous();
    stages.end(fmt::format("{} files", uploading.removed().files));
    return uploading.result();
}

}  // namespace

UploadResult upload(const Context& ctx, Stages& stages, const UploadRequest& request) {
    try {
        return upload_in_order(ctx, stages, request);
    } catch (Error& failure) {
        if (failure.kind() == ErrorKind::interrupted) {
            failure.hinted("what has arrived is kept, and clients can read: upload again to go on");
        }
        throw;
    }
}

}  // namespace edgegpu
