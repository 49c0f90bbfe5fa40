#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "blueprint/stored_source.hpp"
#include "support/error.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

/// A part of a generated bundle.
struct GeneratedPart {
    /// A text by which kustomize's messages name it: "patch-1.yaml".
    std::string called;
    /// What it was made of.
    SourceLocation location;
};

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
    /// Directory of the user's own files ("base"); all others are generated. Empty: all are the
    /// user's.
    std::string moved_to = {};
    /// Where in the blueprint the generated parts come from.
    std::vector<GeneratedPart> parts = {};

    /// The user's path of a file of the bundle, for messages; of a generated one, the place in the
    /// blueprint.
    [[nodiscard]] std::string path_of(std::string_view file) const;
    /// A place in a file of the bundle, for messages: in the user's file, or in the blueprint.
    [[nodiscard]] SourceLocation place_of(std::string_view file, std::uint32_t line,
                                          std::uint32_t column) const;
    /// Where in the blueprint something is that a message of kustomize is about: one of `parts`, or
    /// the bundle.
    [[nodiscard]] const SourceLocation& place_named_in(std::string_view message) const;
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
