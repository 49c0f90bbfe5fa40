#include "publish/end_of_life.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "installer/commit_signature.hpp"
#include "publish/rollout.hpp"
#include "publish/verification.hpp"
#include "support/error.hpp"

namespace edgegpu {

void require_end_of_life(const Context& ctx, const RepositoryView& repository,
                         const PromotedCommit& promoted, const CommitView& image) {
    const EndOfLife& end = promoted.end;
    std::set<std::string> passed{promoted.ref};
    require_no_plan_ref(end.rebase);
    for (std::string next = end.rebase; !next.empty();) {
        if (next.find(':') != std::string::npos) {
            throw error(ErrorKind::usage, "{}: clients look for no ref of another remote", next)
                .hinted("name a ref of the repository itself with --rebase-to");
        }
        const std::string checksum = commit_of_ref(repository, next);
        if (!passed.insert(next).second) {
            throw error(ErrorKind::usage,
                        "{} leads back to {}: devices would change refs with each upgrade",
                        end.rebase, next)
                .hinted("name a ref with --rebase-to that has not ended");
        }
        next = read_channel_record(repository.commit_at(checksum, next)).end.rebase;
    }
    if (end.rebase.empty()) {
        return;
    }
    const CommitView next = repository.commit_at(commit_of_ref(repository, end.rebase), end.rebase);
    const CommitInfo& info = next.info();
    const auto refuse = [&](const std::string& why, const std::string& hint) {
        throw error("commit {} of ref {} {}: devices refuse to go on with it", info.checksum,
                    end.rebase, why)
            .hinted(hint);
    };
    if (info.time < promoted.time) {
        refuse(fmt::format("is older than the last one of {}", promoted.ref),
               fmt::format("publish or promote a later commit to {} first", end.rebase));
    }
    if (!info.bound_refs.empty() &&
        std::ranges::find(info.bound_refs, end.rebase) == info.bound_refs.end()) {
        refuse(fmt::format("was made for {}", fmt::join(info.bound_refs, ", ")),
               fmt::format("promote it to {}", end.rebase));
    }
    const std::string here = read_channel_record(image).architecture;
    const std::string there = read_channel_record(next).architecture;
    if (!here.empty() && !there.empty() && here != there) {
        refuse(fmt::format("is for {}, not for {}", there, here),
               "name another ref with --rebase-to");
    }
    try {
        require_acceptable(ctx, next, image);
    } catch (Error& unverifiable) {
        throw unverifiable.traced(fmt::format("devices would go on with ref {}", end.rebase));
    }
}

}  // namespace edgegpu
