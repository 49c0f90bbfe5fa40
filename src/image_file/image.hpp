#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "disk/disk.hpp"
#include "execution/context.hpp"
#include "execution/stage.hpp"
#include "image_file/disk_format.hpp"
#include "installer/target_rule.hpp"
#include "repository/commit_view.hpp"

namespace edgegpu {

/// A file that the commit was built from.
struct SourceFile {
    /// without directory
    std::string name;
    std::string sha256;
};

/// What the commit was built from, as far as the caller knows it.
struct ImageSources {
    std::optional<SourceFile> blueprint;
    /// What the blueprint extends.
    std::vector<SourceFile> bases;
    /// SHA-256 of the blueprint's values, those of its bases and parameters among them; empty
    /// without a blueprint.
    std::string blueprint_values;
    std::optional<SourceFile> lockfile;
};

/// A GPG key that signs images.
struct ImageKey {
    /// key id or mail address
    std::string id;
    /// GPG home of its secret key; empty: the user's
    std::filesystem::path homedir;
};

/// An image file to write.
struct ImageRequest {
    DiskRequest disk;
    /// of installation media: which disk they overwrite, and whether they verify the commit
    TargetRule target;
    bool unsigned_commit = false;
    ImageType type = ImageType::raw;
    ImageCompression compression = ImageCompression::none;
    /// for the provenance
    ImageSources sources;
    /// for the signature NAME.asc; nothing: none is made
    std::optional<ImageKey> key;
    /// its final name; NAME.sha256 and NAME.json are written beside it, of raw
    /// images also NAME.bmap
    std::filesystem::path output;
    /// whether files of these names are replaced, or removed if none is written
    bool replace = false;
};

/// A disk image that was written.
struct Image {
    Disk disk;
    /// of the image file
    std::uint64_t size = 0;
    std::string sha256;
    /// the content of NAME.json (docs/schemas/image.json)
    std::string provenance;
};

/// Writes the disk image with its checksum, provenance, block map and signature. They appear under
/// their names when all of them are complete, the image last; until then, a directory beside them
/// has them, which is removed on failure. The stages are added to `stages`. Throws ErrorKind::usage
/// for names that exist, Error as write_disk and make_gpg_signature do.
[[nodiscard]] Image write_image(const Context& ctx, Stages& stages,
                                const RepositoryView& repository, const CommitView& commit,
                                const ImageRequest& request);

}  // namespace edgegpu
