#pragma once

#include <filesystem>
#include <string>

#include "execution/context.hpp"
#include "oci/blobs.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

/// A commit in a repository.
struct ImportedCommit {
    std::filesystem::path repository;
    std::string checksum;
};

/// The commit that an image has in ostree's container format, in a repository of the cache
/// (bare-user), which is made once for each manifest. The format is that of ostree-rs-ext,
/// "bare-split-xattrs": in the layers, below `sysroot/ostree/repo/objects/`, each metadata object
/// as `ab/cdef….TYPE`, extended attributes as `.file-xattrs`, called by their own SHA-256, and of
/// each file a hard link to these (or a copy), `.file-xattrs-link`, before `.file`. Each object is
/// compared with its checksum, and each layer with `diff_ids`. Of layers above those of the commit,
/// and of an image without one that bootc takes, a commit is made (derived_layers.hpp). `location`
/// is that of the image in the blueprint. Throws ErrorKind::usage for an image that no device
/// takes; ErrorKind::fetch for one that is damaged.
[[nodiscard]] ImportedCommit import_container(const Context& ctx, const StoredImage& image,
                                              const SourceLocation& location);

}  // namespace edgegpu
