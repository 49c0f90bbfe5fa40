#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/stored_file.hpp"
#include "execution/context.hpp"
#include "oci/manifest.hpp"

namespace edgegpu {

/// Blobs of images are in `content/` of the cache, by their SHA-256: what several images share is
/// there once.

/// A container image whose blobs are in the cache; all of them have been verified by their digests.
struct StoredImage {
    /// What messages call it: its source in the blueprint.
    std::string called;
    /// Complete names for the engines, at least one.
    std::vector<std::string> names;
    /// SHA-256 of the manifest, in hexadecimal, and its bytes.
    std::string digest;
    std::string manifest;
    /// The same of the index that led to it; empty if none did.
    std::string index_digest;
    std::string index;
    /// Bytes of the configuration, whose SHA-256 is the image's id.
    std::string config;
    /// The parsed manifest.
    ImageDocument document;
    /// SHA-256 of the tar archives that the layers are.
    std::vector<std::string> diff_ids;
    /// The content of `document.layers`.
    std::vector<StoredFile> layers;
};

/// A manifest, index or configuration with this SHA-256 in the cache; nothing if there is none, or
/// if it is damaged.
[[nodiscard]] std::optional<std::string> find_blob_text(const Context& ctx,
                                                        const std::string& digest);
/// Adds one to the cache; returns its SHA-256.
std::string store_blob_text(const Context& ctx, std::string_view text);

/// A layer in the cache, if there is one of this size. Its content is verified when it is read.
[[nodiscard]] std::optional<StoredFile> find_layer(const Context& ctx, const ImageBlob& layer);

}  // namespace edgegpu
