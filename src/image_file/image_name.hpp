#pragma once

#include <string>

#include "image_file/image.hpp"

namespace edgegpu {

/// The ref (else the commit's checksum) and the version, as one word:
/// "lab-12-x86_64-edge-gpu-1.0.0".
[[nodiscard]] std::string image_base_name(const std::string& ref, const CommitInfo& commit);

/// The file name of an image, from its base name and its type:
/// "lab-12-x86_64-edge-gpu-1.0.0.qcow2".
[[nodiscard]] std::string image_file_name(const ImageRequest& request, const CommitInfo& commit);

/// Throws ErrorKind::usage if the name of `request.output` ends like one of another form than it
/// will have: ".iso" for what is compressed, ".qcow2" for a raw disk. Programs go by these names.
/// The same for control characters, which FILE.sha256 cannot have. Any other name is accepted.
void check_image_name(const ImageRequest& request);

}  // namespace edgegpu
