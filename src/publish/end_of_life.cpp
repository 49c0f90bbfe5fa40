#include "publish/end_of_life.hpp"

#include <set>

#include <fmt/format.h>

#include "publish/verification.hpp"
#include "support/error.hpp"

namespace edgegpu {

void require_end_of_life(const RepositoryView& repository, const std::string& ref,
                         const EndOfLife& end, const std::optional<CommitView>& head) {
    std::set<std::string> passed{ref};
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
    if (end.rebase.empty() || !head) {
        return;
    }
    const CommitView next = repository.commit_at(commit_of_ref(repository, end.rebase), end.rebase);
    if (next.info().time < head->info().time) {
        throw error(
            "commit {} of ref {} is older than {}, which {} has: devices refuse to go on with it "
            "as a downgrade",
            next.info().checksum, end.rebase, head->info().checksum, ref)
            .hinted(fmt::format("publish or promote a later commit to {} first", end.rebase));
    }
}

}  // namespace edgegpu
