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
    /// Whether both have those of the parent, too, if the image is a layer on one.
    bool whole = false;
    /// Checksum of the parent that a lockfile names, or empty.
    std::string parent = {};
};

/// `whole`: with what the parent brings.
[[nodiscard]] ImageContent content_of(const Resolution& resolution, bool whole = false);

/// The content of a lockfile, or of a commit in the ostree repository `repo`: `name` is the path of
/// the former, or a ref or checksum of the latter. Throws ErrorKind::usage if it is neither.
[[nodiscard]] ImageContent content_of(const std::string& name, const std::filesystem::path& repo);

/// A container image that was added (`before` is empty), removed (`now` is empty), or has another
/// digest; or such a parent.
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
    /// The commits of `[parent]`, if they differ; `name` as the blueprint has it.
    std::optional<DigestChange> parent;
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
