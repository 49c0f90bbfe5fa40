#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
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

/// `[microshift.config]`: MicroShift's own configuration.
struct MicroshiftConfig {
    /// A JSON object whose keys are sorted: it does not depend on how the TOML is written.
    std::string document;
    /// JSON pointer (RFC 6901) of each value in it → its key in the blueprint.
    std::map<std::string, SourceLocation> places;
    SourceLocation location;
};

/// `[microshift]`.
struct MicroshiftRequest {
    std::vector<BundleRequest> bundles;
    /// Nothing: the blueprint has no such table, or an empty one.
    std::optional<MicroshiftConfig> config;
    /// Open what MicroShift needs where the image has firewalld.
    bool firewall = true;
    /// Beginning of the table; no file if the blueprint has none.
    SourceLocation location;
};

}  // namespace edgegpu
