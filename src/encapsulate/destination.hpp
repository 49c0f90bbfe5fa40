#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "encapsulate/encapsulate.hpp"
#include "execution/context.hpp"
#include "oci/image_signature.hpp"
#include "oci/reference.hpp"

namespace edgegpu {

/// Where an image is written to.
struct ImageDestination {
    enum class Kind {
        layout,   ///< "oci:DIR[:TAG]": a directory
        archive,  ///< "oci-archive:FILE[:TAG]": a layout as one file
        registry  ///< "docker://HOST/NAME[:TAG]"
    };
    Kind kind = Kind::layout;
    /// of a layout or archive
    std::filesystem::path path;
    /// in a layout or archive
    std::string tag = "latest";
    /// in a registry
    ImagePlace place;
    /// Whether a registry must have a certificate that is trusted.
    bool tls_verify = true;
    /// What it is signed with in a registry.
    std::optional<ImageSigning> signing;
};

/// Parses a destination in containers-transports(5)'s notation. A path without a transport is an
/// archive if it ends with ".tar" or ".ociarchive", else a layout. Throws ErrorKind::usage for
/// other transports, malformed names, and names with a digest.
[[nodiscard]] ImageDestination parse_destination(std::string_view text);

/// Writes `commit` as an image (write_oci_layout) to `destination`. What is written to a path
/// appears there when it is complete; nothing may exist there before. A registry gets the image
/// with skopeo, with the credentials and certificates of the user; layers that it has are not sent
/// again. `request.tag` is the destination's. Throws Error, also ErrorKind::usage for a path that
/// exists and ErrorKind::fetch for a registry.
[[nodiscard]] EncapsulatedImage deliver_image(const Context& ctx, const CommitView& commit,
                                              EncapsulateRequest request,
                                              const ImageDestination& destination);

/// The layers of an earlier version at "oci:DIR[:TAG]" or "docker://HOST/NAME[:TAG]" (or a digest).
/// Throws ErrorKind::usage for other places, Error if there is no image, or none for one
/// architecture.
[[nodiscard]] EarlierLayers read_earlier_layers(const Context& ctx, std::string_view text,
                                                bool tls_verify);

}  // namespace edgegpu
