#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "blueprint/blueprint.hpp"
#include "support/checksum.hpp"
#include "support/error.hpp"

namespace edgegpu {

/// What edgegpu reads of a repository's metadata. Everything else in repomd.xml is passed over.
enum class MetadataKind : std::uint8_t { primary, filelists, comps, modules, updateinfo };

/// A file of metadata, as repomd.xml promises it.
struct MetadataRecord {
    /// As repomd.xml spells it: "primary", "group_gz", …
    std::string type;
    /// Where it lies, see FilePlace: below `base`, or below the repository where that is empty.
    std::string href;
    std::string base;
    Checksum checksum;
    /// Bytes of the file; 0: repomd.xml does not say.
    std::uint64_t size = 0;
};

/// What a repomd.xml lists: of each kind the spelling that can be read.
struct MetadataRecords {
    std::map<MetadataKind, MetadataRecord> readable;
    /// Kinds that are listed in ways only that cannot be read or must not be trusted, and why.
    std::map<MetadataKind, Error> refused;
    /// Newest timestamp of the records; the revision where they have none and it is a number; else
    /// 0. Unix time.
    std::int64_t revision_time = 0;

    /// The record, or null where the repository has no such metadata. Throws the Error of
    /// `refused`.
    [[nodiscard]] const MetadataRecord* find(MetadataKind kind) const;
};

/// Reads a repomd.xml (https://createrepo.baseurl.org; what createrepo_c writes), whose signature
/// has been checked. Only what is damaged as a whole, or lists no primary metadata, is an error:
/// ErrorKind::fetch naming the repository.
[[nodiscard]] MetadataRecords read_records(const Repository& repository,
                                           const std::filesystem::path& repomd);

/// Where the file of a record lies in `directory` (a RepositoryMetadata's): in repodata/, under its
/// own name.
[[nodiscard]] std::filesystem::path metadata_path(const std::filesystem::path& directory,
                                                  const MetadataRecord& record);

/// The checksum that metadata give of `what` ("package x-1-1.noarch", "primary"), if the repository
/// may use its algorithm: never MD5, SHA-1 only with `allow_sha1`. Throws ErrorKind::fetch naming
/// repository and `what`; `type` may be empty, for none.
[[nodiscard]] Checksum accepted_checksum(const Repository& repository, const std::string& what,
                                         std::string_view type, std::string_view hex);

/// Where metadata say that a file lies.
struct FilePlace {
    /// URL that `location` is relative to; empty: the repository's.
    std::string base;
    /// Relative, without "." and empty parts. Of a server perhaps with leading "..".
    std::string location;
};

/// The place that `href` and xml:base (may be empty) of `what` mean. As with dnf, both may be
/// absolute URLs, and a path may leave a server's directory: what it says is what its checksum
/// says, from wherever it comes. Of a repository in this machine's files nothing outside of it is
/// read unless a file:// URL says so openly, and a server's metadata cannot name files of this
/// machine. Throws ErrorKind::fetch naming repository and `what`.
[[nodiscard]] FilePlace file_place(const Repository& repository, const std::string& what,
                                   const std::string& base, const std::string& href);

}  // namespace edgegpu
