#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "commit/commit.hpp"
#include "repository/commit_view.hpp"

namespace edgegpu {

/// The file of a RetentionRecord in a repository.
inline constexpr const char* retention_file = "edgegpu-locks/@retention";

/// What a repository remembers of versions that are to stay, or to go.
struct RetentionRecord {
    /// commits that stay however old they are: checksum → since when, Unix time
    std::map<std::string, std::int64_t> pins;
    /// commits (by their checksums) and deltas ("FROM-TO" or "TO") that nothing needs any
    /// more: since when that is known, Unix time
    std::map<std::string, std::int64_t> commits;
    std::map<std::string, std::int64_t> deltas;
    bool operator==(const RetentionRecord&) const = default;
};

/// The file: "lines COUNT", and so many lines "pin|commit|delta NAME TIME".
[[nodiscard]] std::string retention_text(const RetentionRecord& record);
/// The record in such a text; `shown` is the file's path. Throws Error for anything else, also
/// for a file that was cut: a pin that is ignored would be a commit that is lost.
[[nodiscard]] RetentionRecord parse_retention(std::string_view text, const std::string& shown);

/// The record of a repository; empty if it has none. Throws Error.
[[nodiscard]] RetentionRecord read_retention(const RepositoryView& repository);
/// Replaces it atomically, and durably where the repository wants that. Throws Error.
void write_retention(const Repo& repository, const RetentionRecord& record);

/// What nothing needs: what has been noted for so long that it may go, and what has to wait, with
/// the time since when.
struct Unneeded {
    std::map<std::string, std::int64_t> due;
    std::map<std::string, std::int64_t> waiting;
};

/// Divides `names`, which nothing needs now: what was not `noted` is new. With a grace of 0 nothing
/// waits. A time in the future, by a clock that was wrong, counts as now.
[[nodiscard]] Unneeded judge_unneeded(const std::set<std::string>& names,
                                      const std::map<std::string, std::int64_t>& noted,
                                      std::int64_t now, std::chrono::seconds grace);

}  // namespace edgegpu
