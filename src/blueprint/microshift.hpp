#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "blueprint/stored_source.hpp"
#include "support/source_location.hpp"

/// `[microshift]`: what MicroShift applies on the device, and how it is configured.
namespace edgegpu {

/// A bundle of `microshift.bundles`: a directory that kustomize can render, absolute, and its name.
struct BundleRequest {
    std::string name;
    std::filesystem::path source;
    SourceLocation location;
    /// Copy of `source`; null before `take_snapshot`.
    std::shared_ptr<const StoredSource> stored = nullptr;
};

/// A pattern of `microshift.embed_images`.
struct ImagePattern {
    /// fnmatch(3) on complete names; "*" for `true`
    std::string glob;
    SourceLocation location;
};

/// `[microshift]`.
struct MicroshiftRequest {
    std::vector<BundleRequest> bundles;
    /// Which images of bundles and of MicroShift are in the image; empty: none.
    std::vector<ImagePattern> embed_images;
    /// Beginning of the table; no file if the blueprint has none.
    SourceLocation location;
};

}  // namespace edgegpu
