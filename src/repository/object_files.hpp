#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ostree.h>

namespace edgegpu {

/// A file of an object in an archive repository.
struct ObjectFile {
    OstreeObjectType type = OSTREE_OBJECT_TYPE_FILE;
    std::string checksum;
    std::uint64_t bytes = 0;
    /// when it was last written, Unix time
    std::int64_t modified = 0;

    /// "XX/YYYY.filez"
    [[nodiscard]] std::string name() const;
};

/// The name of an object's file below `objects/` of an archive repository.
[[nodiscard]] std::string object_file_name(OstreeObjectType type, const std::string& checksum);

/// The files below `objects/` of an archive repository, sorted: contents, directories, commits, and
/// detached metadata (OSTREE_OBJECT_TYPE_COMMIT_META). Files of other names are passed over.
/// `repository` is the open directory, `shown` its path. Throws Error for a directory that cannot
/// be read.
[[nodiscard]] std::vector<ObjectFile> list_object_files(int repository, const std::string& shown);

/// A directory below `deltas/`, with or without a superblock.
struct DeltaDirectory {
    /// "deltas/XX/YYYY"
    std::string path;
    /// checksums of the two commits; `from` is empty for a delta from nothing
    std::string from;
    std::string to;
    bool has_superblock = false;
    /// of all of its files
    std::uint64_t bytes = 0;

    /// "FROM-TO", or "TO", as libostree and summaries call it.
    [[nodiscard]] std::string name() const { return from.empty() ? to : from + '-' + to; }
};

/// All that have the name of a delta, sorted by path. The same errors.
[[nodiscard]] std::vector<DeltaDirectory> list_delta_directories(int repository,
                                                                 const std::string& shown);

/// The commits in the name of a delta's directory, "XXYYYY" or "XXYYYY-ZZZZ", with `path`; nothing
/// if it is none.
[[nodiscard]] std::optional<DeltaDirectory> delta_of_name(std::string_view name);

}  // namespace edgegpu
