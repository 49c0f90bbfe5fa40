#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "image_file/image.hpp"
#include "repository/commit_view.hpp"

namespace edgegpu {

/// Where an image comes from and what it is, as JSON (docs/schemas/image.json). Of injected files
/// it has the paths alone. The same image has the same text wherever and whenever it is written.
[[nodiscard]] std::string image_provenance(const Image& image, const CommitInfo& commit,
                                           const ImageRequest& request);

/// Adds `blueprint` with its bases and values, and `lockfile`, as far as they are known, to a JSON
/// document.
void add_sources(nlohmann::ordered_json& document, const ImageSources& sources);

}  // namespace edgegpu
