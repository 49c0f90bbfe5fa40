#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "report/diff_packages.hpp"
#include "resolve/resolution.hpp"

namespace edgegpu {

/// What an image has, as a lockfile or a commit says it.
struct ImageContent {
    std::vector<Nevra> packages;
    /// digests ("sha256:…") of the container images by name
    std::map<std::string, std::string> images;
};

[[nodiscard]] ImageContent content_of(const Resolution& resolution);

/// The content of a lockfile, or of a commit in the ostree repository `repo`: `name` is the path of
/// the former, or a ref or checksum of the latter. Throws ErrorKind::usage if it is neither.
[[nodiscard]] ImageContent content_of(const std::string& name, const std::filesystem::path& repo);

/// A container image that was added (`before` is empty), removed (`now` is empty), or has another
/// digest.
struct DigestChange {
    std::string name;
    std::string before;
    std::string now;
};

/// What differs between two versions of an image.
struct ContentChanges {
    std::vector<PackageChange> packages;
    /// sorted by name
    std::vector<DigestChange> images;
};

[[nodiscard]] ContentChanges changes_since(const ImageContent& before, const Resolution& now);

/// The changes as text.
[[nodiscard]] std::string changes_text(const ContentChanges& changes);

/// The result as text: kernel and driver, which newer ones were not chosen, what changed, then all
/// packages in columns, and what kernel modules are compiled with.
[[nodiscard]] std::string resolution_text(const Resolution& resolution, const Blueprint& blueprint,
                                          const std::optional<ContentChanges>& changes);

/// The result as a JSON document "edgegpu-resolve/1" (docs/schemas/resolve.json).
[[nodiscard]] std::string resolution_json(const Resolution& resolution, const Blueprint& blueprint,
                                          const std::optional<ContentChanges>& changes,
                                          const std::vector<std::string>& warnings);

}  // namespace edgegpu
