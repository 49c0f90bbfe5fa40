#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// A blob of an image, as a manifest refers to it.
struct ImageBlob {
    std::string media_type;
    /// SHA-256 of its bytes, in hexadecimal.
    std::string digest;
    std::uint64_t size = 0;
};

/// A manifest of an index, and the machines that it is for.
struct PlatformManifest {
    ImageBlob manifest;
    /// "linux"
    std::string os;
    /// In Go's notation: "amd64"
    std::string architecture;
    /// "v8", or empty
    std::string variant;
};

/// What a tag or a digest of an image leads to: a manifest of one image, or an index of several
/// (OCI's image index, Docker's manifest list). Of OCI's image specification 1.0 and Docker's image
/// manifest version 2, schema 2.
struct ImageDocument {
    /// Of an index; empty for a manifest.
    std::vector<PlatformManifest> index;
    /// Of a manifest.
    ImageBlob config;
    /// Of a manifest, the lowest first.
    std::vector<ImageBlob> layers;

    [[nodiscard]] bool is_index() const { return config.digest.empty(); }
};

/// Largest manifest, index or configuration that is read, in bytes; registries' own limit.
inline constexpr std::uint64_t largest_manifest = 4U << 20U;
/// Most bytes that an image may have, both compressed and unpacked.
inline constexpr std::uint64_t largest_image = 64ULL << 30U;

/// Parses a manifest or an index, which is untrusted. Throws ErrorKind::fetch saying what is wrong,
/// also for layers that are encrypted, or elsewhere than in the image's registry; `called` is the
/// image's name.
[[nodiscard]] ImageDocument parse_manifest(std::string_view text, const std::string& called);

/// Parts of an image's configuration.
struct ImageConfig {
    std::string os;
    /// In Go's notation: "amd64"
    std::string architecture;
    /// RFC 3339, or empty if it has none.
    std::string created;
    /// SHA-256 of each layer's tar archive, the lowest first: as many as the manifest has layers.
    std::vector<std::string> diff_ids;
};

/// Parses the configuration of the image whose manifest is `document` and checks that both are
/// about the same layers, and that engines can read it: they refuse a store, with all its images,
/// for a field of another type, or for a time that is none. Throws as `parse_manifest`.
[[nodiscard]] ImageConfig parse_image_config(std::string_view text, const ImageDocument& document,
                                             const std::string& called);

/// A label of an image's configuration, which `parse_image_config` has taken; empty if it has none
/// of this name.
[[nodiscard]] std::string image_label(std::string_view config, std::string_view label);

/// Go's name of an RPM architecture: "amd64" for "x86_64".
[[nodiscard]] std::string image_architecture(const std::string& rpm_architecture);

}  // namespace edgegpu
