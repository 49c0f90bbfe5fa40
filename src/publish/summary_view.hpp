#pragma once

#include <map>
#include <string>
#include <vector>

#include "repository/commit_view.hpp"

namespace edgegpu {

/// What the summary of a repository says.
struct SummaryView {
    bool exists = false;
    /// It can be parsed; else there is nothing below.
    bool readable = false;
    /// ref → checksum
    std::map<std::string, std::string> refs;
    /// "FROM-TO" or "TO" → SHA-256 of the superblock
    std::map<std::string, std::string> deltas;
    /// its bytes
    std::string text;
};

/// Reads it; a damaged one is no error. Throws Error if the file cannot be read.
[[nodiscard]] SummaryView read_summary(const RepositoryView& repository);

/// What it says otherwise of the refs of its repository than that has, each in words that follow
/// "the summary": "lacks the ref edge". Empty if there is none.
[[nodiscard]] std::vector<std::string> differing_refs(const RepositoryView& repository,
                                                      const SummaryView& summary);

/// Of the deltas that a summary or an index names, those that are not there as it says:
/// "names the delta FROM-TO, which is not there".
[[nodiscard]] std::vector<std::string> differing_deltas(
    const RepositoryView& repository, const std::map<std::string, std::string>& named);

/// The content of a file of a repository, not through links; empty if there is none. Throws Error,
/// also for what is larger than any file that clients read.
[[nodiscard]] std::string file_of(const RepositoryView& repository, const std::string& name);

}  // namespace edgegpu
