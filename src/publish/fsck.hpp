#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "execution/context.hpp"
#include "execution/stage.hpp"
#include "repository/commit_view.hpp"
#include "repository/object_walk.hpp"

namespace edgegpu {

/// What is checked, and what may mend it.
struct FsckRequest {
    std::filesystem::path repository;
    /// empty: all
    std::vector<std::string> refs;
    /// a repository that has what is damaged; empty: nothing is written
    std::filesystem::path repair_from;
};

/// A ref that was checked.
struct CheckedRef {
    std::string ref;
    std::string checksum;
    /// number of its versions that the repository has
    std::size_t versions = 0;
};

/// An object that is damaged, with the first ref that reaches it; empty for a pinned commit.
struct DamagedObject {
    std::string ref;
    ObjectFault fault;
};

/// Something else that is not as clients need it.
struct FsckProblem {
    /// "ref", "signatures", "delta", "delta-index", "summary"
    std::string kind;
    /// file below the repository, or ref
    std::string subject;
    std::string what;
    /// the way out, or empty
    std::string hint;
    bool repaired = false;
};

/// What no client asks for.
struct Leftovers {
    /// besides commits, what no ref reaches
    std::size_t objects = 0;
    std::uint64_t object_bytes = 0;
    /// of no ref
    std::size_t commits = 0;
    /// to commits that no ref reaches, or without a superblock
    std::size_t deltas = 0;
    std::uint64_t delta_bytes = 0;
    /// entries of tmp/ whose makers have ended
    std::size_t temporary = 0;
    /// marks of commits that were pulled in part
    std::size_t partial = 0;
};

/// What was found.
struct FsckReport {
    std::vector<CheckedRef> refs;
    std::vector<DamagedObject> damaged;
    std::vector<FsckProblem> problems;
    /// numbers of objects and deltas that were compared with their checksums
    std::size_t objects = 0;
    std::size_t deltas = 0;
    /// nothing if only some refs were checked
    std::optional<Leftovers> leftovers;
    /// why objects could not be mended, each once
    std::vector<std::string> not_repaired;

    /// Whether something is damaged now.
    [[nodiscard]] bool is_damaged() const;
};

/// Compares everything that clients of a published repository can ask for with its checksums: the
/// versions of the refs, their deltas, and the summary. Writes nothing without `repair_from`; with
/// it, replaces objects and signatures that are damaged or missing, each atomically. Throws
/// ErrorKind::usage for a ref that is not there, Error for what is no repository.
[[nodiscard]] FsckReport fsck(const Context& ctx, Stages& stages, const FsckRequest& request);

/// Adds what is wrong with the deltas to `commits`.
void check_deltas(const Context& ctx, const RepositoryView& repository,
                  const std::vector<std::string>& commits, FsckReport& report);
/// Warns of files and directories that only their owner or group can read: a web server that runs
/// as somebody else answers "403 Forbidden". With `files` of all of them, else of directories.
void warn_of_unreadable(const Context& ctx, const std::filesystem::path& repository, bool files);
/// Adds what is wrong with the indexes of deltas to `commits`, and with the summary. If refs and
/// summary change meanwhile, or a writer is between the two, it looks again, a few times, before it
/// says so.
void check_indexes_and_summary(const Context& ctx, const RepositoryView& repository,
                               const std::vector<std::string>& commits, FsckReport& report);

}  // namespace edgegpu
