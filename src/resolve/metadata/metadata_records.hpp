#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "blueprint/blueprint.hpp"
#include "support/error.hpp"
#include "support/files/checksum.hpp"

namespace edgegpu {

/// The kinds of metadata that edgegpu reads; other records of repomd.xml are ignored.
enum class MetadataKind : std::uint8_t { primary, filelists, comps, modules, updateinfo };

/// A record of repomd.xml.
struct MetadataRecord {
    /// As in repomd.xml: "primary", "group_gz", …
    std::string type;
    /// Path relative to `base`, or to the repository if that is empty; see FilePlace.
    std::string href;
    std::string base;
    Checksum checksum;
    /// Bytes of the file; 0: unknown.
    std::uint64_t size = 0;
    /// Bytes that it decompresses to; 0: unknown.
    std::uint64_t open_size = 0;
};

/// The records of a repomd.xml, at most one of each kind.
struct MetadataRecords {
    std::map<MetadataKind, MetadataRecord> readable;
    /// Kinds of which all records are unreadable or must not be trusted, and why.
    std::map<MetadataKind, Error> refused;
    /// Newest timestamp of the records, else the revision if it is a number, else 0. Unix time.
    std::int64_t revision_time = 0;

    /// The record of `kind`, or null if the repository has no such metadata. Throws the Error in
    /// `refused`.
    [[nodiscard]] const MetadataRecord* find(MetadataKind kind) const;
};

/// Reads a verified repomd.xml (https://createrepo.baseurl.org, as written by createrepo_c). Throws
/// ErrorKind::fetch naming the repository if it cannot be parsed or has no usable primary metadata.
[[nodiscard]] MetadataRecords read_records(const Repository& repository,
                                           const std::filesystem::path& repomd);

/// Path of a record's file in RepositoryMetadata::directory: in repodata/, under its own name.
[[nodiscard]] std::filesystem::path metadata_path(const std::filesystem::path& directory,
                                                  const MetadataRecord& record);

/// The checksum of `what` ("package x-1-1.noarch", "primary") in the metadata, if its algorithm is
/// acceptable: SHA-1 only with `allow_sha1`, MD5 never. Throws ErrorKind::fetch naming repository
/// and `what`, also if `type` or `hex` is empty.
[[nodiscard]] Checksum accepted_checksum(const Repository& repository, const std::string& what,
                                         std::string_view type, std::string_view hex);

/// Location of a file according to the metadata.
struct FilePlace {
    /// URL that `location` is relative to; empty: that of the repository.
    std::string base;
    /// Relative path without "." and empty components; may begin with ".." on servers.
    std::string location;
};

/// The location that `href` and xml:base (may be empty) of `what` specify. As in dnf, both may be
/// absolute URLs, and a path may leave the repository's directory on a server: the checksum
/// guarantees the content. In a local repository, files outside of it are only read with an
/// explicit file:// URL; metadata from a server cannot refer to local files. Throws
/// ErrorKind::fetch naming repository and `what`.
[[nodiscard]] FilePlace file_place(const Repository& repository, const std::string& what,
                                   const std::string& base, const std::string& href);

}  // namespace edgegpu
