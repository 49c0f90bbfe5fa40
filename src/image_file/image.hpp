#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "disk/disk.hpp"
#include "execution/context.hpp"
#include "execution/stage.hpp"
#include "image_file/disk_format.hpp"
#include "installer/target_rule.hpp"
#include "report/commit_view.hpp"

namespace edgegpu {

/// An image file to write.
struct ImageRequest {
    DiskRequest disk;
    /// of installation media: which disk they overwrite, and whether they verify the commit
    TargetRule target;
    bool unsigned_commit = false;
    ImageType type = ImageType::raw;
    /// compressed with zstd
    bool zstd = false;
    /// its final name; NAME.sha256 and NAME.json are written beside it
    std::filesystem::path output;
    /// whether files of these names are replaced
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

/// The file name of an image, from the ref (else the commit's checksum), the version and the type:
/// "lab-12-x86_64-edge-gpu-1.0.0.qcow2".
[[nodiscard]] std::string image_file_name(const ImageRequest& request, const CommitInfo& commit);

/// Writes the disk image with its checksum and its provenance. They appear under their names when
/// all of them are complete, the image last; until then, a directory beside them has them, which is
/// removed on failure. The stages are added to `stages`. Throws ErrorKind::usage for names that
/// exist, Error as write_disk does.
[[nodiscard]] Image write_image(const Context& ctx, Stages& stages,
                                const RepositoryView& repository, const CommitView& commit,
                                const ImageRequest& request);

}  // namespace edgegpu
