#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace edgegpu {

/// What precedes the name of a ref in the path of its file.
inline constexpr std::string_view heads_prefix = "refs/heads/";

/// The steps of an upload, in the order in which clients may read meanwhile: nothing is there
/// before what it refers to.
enum class UploadStep {
    /// file objects and dirmetas
    contents,
    /// dirtrees
    directories,
    commits,
    /// signatures of commits, and tombstones
    commit_metadata,
    delta_parts,
    superblocks,
    delta_indexes,
    config,
    refs,
    /// and its signature
    summary
};
inline constexpr UploadStep last_step = UploadStep::summary;

/// What the step uploads, for messages: "file objects".
[[nodiscard]] std::string_view name_of(UploadStep step);

/// Whether what the step uploads keeps its content as long as it has its name, so that caches may
/// keep it for ever.
[[nodiscard]] bool is_immutable(UploadStep step) noexcept;

/// What is sent with it as Cache-Control, to servers that keep such headers.
[[nodiscard]] std::string_view cache_control_of(UploadStep step) noexcept;

/// The step that uploads the file `path` of a published repository; nothing for what clients do not
/// read: locks, `tmp/`, `state/`, refs of remotes, and whatever else has been put there.
[[nodiscard]] std::optional<UploadStep> step_of(std::string_view path);

/// The superblock of the delta that the part `path` belongs to: "deltas/AB/CD…/superblock".
[[nodiscard]] std::string superblock_of_part(std::string_view path);

/// Checksums of the commits of a delta; `from` is empty for one from nothing.
struct DeltaCommits {
    std::string from;
    std::string to;
};

/// Those of the delta that the file `path`, a part or superblock, belongs to; empty for a name that
/// no delta has.
[[nodiscard]] DeltaCommits commits_of_delta(std::string_view path);

/// The file of an object, "objects/ab/cd….commit".
[[nodiscard]] std::string object_file(std::string_view checksum, std::string_view extension);

/// The checksum of the object in the file `path`, below `objects/`; and its extension.
[[nodiscard]] std::string checksum_of_object(std::string_view path);
[[nodiscard]] std::string_view extension_of_object(std::string_view path);

/// Files by their paths in a repository, with their sizes in bytes.
using FileSizes = std::map<std::string, std::uint64_t, std::less<>>;

/// The files of the open directory of a repository that have a step, but for refs: objects, deltas
/// and their indexes, config, summary and its signature. Files that are empty, as a power failure
/// leaves them, do not count, and neither do commits that are not complete (`state/`). `shown` is
/// the directory's path for errors. Throws Error for what cannot be read, and for links and the
/// like in their place.
[[nodiscard]] FileSizes files_of_repository(int repository, const std::string& shown);

}  // namespace edgegpu
