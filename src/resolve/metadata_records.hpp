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
    /// Where it lies below `base`, or below the repository where `base` is empty: relative, without
    /// "..".
    std::string href;
    /// xml:base of the record, a URL; mostly empty.
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

    /// The record, or null where the repository has no such metadata. Throws the Error of `refused`.
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

/// Compares a file with what its record promises: size, then checksum. Throws ErrorKind::fetch
/// naming repository and file.
void check_metadata_file(const Repository& repository, const MetadataRecord& record,
                         const std::filesystem::path& path);

/// The checksum that metadata give of `what` ("package x-1-1.noarch", "primary"), if the repository
/// may use its algorithm: never MD5, SHA-1 only with `allow_sha1`. Throws ErrorKind::fetch naming
/// repository and `what`; `type` may be empty, for none.
[[nodiscard]] Checksum accepted_checksum(const Repository& repository, const std::string& what,
                                         std::string_view type, std::string_view hex);

/// A relative path of metadata without "." and empty parts and with ".." carried out, as far as it
/// stays inside: what leads out keeps its leading "..".
[[nodiscard]] std::string tidy_location(const std::string& location);

/// Whether `url` begins with a scheme ("https://").
[[nodiscard]] bool has_scheme(std::string_view url);

}  // namespace edgegpu
