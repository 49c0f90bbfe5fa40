#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "blueprint/stored_source.hpp"
#include "support/error.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

/// The files of one bundle in memory, with where they come from for messages.
struct BundleFiles {
    /// "nvidia-device-plugin"
    std::string name;
    /// the user's directory
    std::filesystem::path source;
    /// Where the blueprint names it; no file for a bundle of the command line.
    SourceLocation location;
    /// path below the directory → content
    std::map<std::string, std::string> files;

    /// The user's path of a file of the bundle, for messages.
    [[nodiscard]] std::string path_of(std::string_view file) const;
    /// "bundle \"app\"", after the place in the blueprint, if there is one: the beginning of
    /// messages about the bundle as a whole.
    [[nodiscard]] std::string title() const;
    /// Adds to a message about one of its files which bundle that is.
    [[nodiscard]] Error in_bundle(Error failure) const;
    /// Digest of names and contents.
    [[nodiscard]] std::string digest() const;
};

/// Names by which kustomize finds the description of a directory.
[[nodiscard]] bool is_kustomization_name(std::string_view name);

/// Reads a bundle from the user's directory. Throws ErrorKind::usage for a directory that does not
/// exist, for links and what else an image's bundle cannot contain, for what cannot be read, and
/// for more than 4096 files or 32 MiB.
[[nodiscard]] BundleFiles read_bundle_files(std::string name, std::filesystem::path source,
                                            SourceLocation location = {});

/// The same from the copy that a build made of the directory.
[[nodiscard]] BundleFiles read_bundle_files(std::string name, std::filesystem::path source,
                                            SourceLocation location, const StoredSource& stored);

}  // namespace edgegpu
