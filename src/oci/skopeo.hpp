#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "execution/context.hpp"
#include "oci/image_signature.hpp"
#include "oci/reference.hpp"

/// The real skopeo, as the build machine has it: it knows registries, mirrors (registries.conf(5)),
/// credentials (containers-auth.json(5)), certificates (containers-certs.d(5)) and signatures
/// (containers-policy.json(5)), with the configuration of the user who builds. All functions throw
/// ErrorKind::fetch with what skopeo says and a hint, and try again what may be an interruption of
/// the network. A registry that does not answer is given up after `ctx.registry_timeout`, one that
/// stops in the middle of layers after `ctx.layer_timeout`, the second time.
namespace edgegpu {

/// An image, and how it is reached.
struct ImageAccess {
    ImagePlace place;
    /// Whether a registry must have a certificate that is trusted.
    bool tls_verify = true;
    /// Go's name of the architecture that is taken of an index.
    std::string architecture;

    /// The content with this SHA-256 at the same place.
    [[nodiscard]] ImageAccess pinned(const std::string& sha256) const {
        return {place.pinned(sha256), tls_verify, architecture};
    }
};

/// What skopeo gets in its environment: where the user's configuration is, and the way to the
/// network.
[[nodiscard]] std::vector<std::string> skopeo_environment();

/// The bytes of the manifest or index at the place.
[[nodiscard]] std::string read_image_manifest(const Context& ctx, const ImageAccess& access);

/// The bytes of the manifest or index with this SHA-256 at the place. Throws for other bytes.
[[nodiscard]] std::string read_image_manifest(const Context& ctx, const ImageAccess& access,
                                              const std::string& sha256);

/// The bytes of the configuration of the image at the place.
[[nodiscard]] std::string read_image_config(const Context& ctx, const ImageAccess& access);

/// Copies the layers of the image at the place, of `size` bytes together, to `blobs`/sha256/DIGEST.
/// Those that are there already are not copied again, and those that were copied before a failure
/// stay. `policy.json` is applied. Nothing that is copied has been verified for the caller; a
/// registry that sends more than `size` is given up.
void copy_image_layers(const Context& ctx, const ImageAccess& access, std::uint64_t size,
                       const std::filesystem::path& blobs);

/// Copies the only image of an OCI image layout to a place in a registry, with the same digest.
/// `policy.json`, which is about images that are taken from elsewhere, is not applied. Interrupted
/// by `ctx` only: a registry may take any time for a large layer. With `signing`, the image is
/// signed for the place.
void push_image(const Context& ctx, const std::filesystem::path& layout, const ImageAccess& access,
                const std::optional<ImageSigning>& signing = {});

}  // namespace edgegpu
