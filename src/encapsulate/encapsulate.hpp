#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "encapsulate/image_documents.hpp"
#include "execution/context.hpp"
#include "repository/commit_view.hpp"

namespace edgegpu {

/// An image in an OCI image layout.
struct EncapsulatedImage {
    /// SHA-256 of its manifest, in hexadecimal
    std::string digest;
    std::string manifest;
    /// the lowest first
    std::vector<NamedLayer> layers;

    /// Compressed bytes of all layers.
    [[nodiscard]] std::uint64_t size() const;
};

/// How an image is made.
struct EncapsulateRequest {
    /// the image's name in its layout
    std::string tag = "latest";
    /// layers of an earlier version, which keep their components
    EarlierLayers earlier;
};

/// Writes `commit` as an OCI image to `layout`, a directory that does not exist yet: in ostree's
/// container format, from which rpm-ostree and bootc take the same commit again, or, if it is for
/// snapshots, with the files alone. At most 64 layers
/// (gzip): the first has the commit's metadata, the others the files, divided by packages.
/// Layers are made on `ctx.jobs` threads. The same commit and request give the same bytes. If it
/// throws, `layout` does not exist. Throws Error for a commit that is damaged or does not say its
/// architecture, a full disk, a directory that exists, ErrorKind::interrupted.
[[nodiscard]] EncapsulatedImage write_oci_layout(const Context& ctx, const CommitView& commit,
                                                 const EncapsulateRequest& request,
                                                 const std::filesystem::path& layout);

/// Packs a layout into one file, which `oci-archive:` reads: an uncompressed tar archive, the same
/// bytes for the same layout. `file` must not exist.
void write_oci_archive(const Context& ctx, const std::filesystem::path& layout,
                       const std::filesystem::path& file);

}  // namespace edgegpu
