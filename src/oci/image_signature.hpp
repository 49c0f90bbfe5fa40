#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "execution/context.hpp"
#include "oci/reference.hpp"

/// Signatures of container images by GnuPG ("simple signing"), as containers-policy.json(5) reads
/// them: `signedBy` with `keyType` "GPGKeys". They lie beside the registry, in a directory that is
/// published as containers-registries.d(5) says ("lookaside"): PATH@sha256=DIGEST/signature-1, PATH
/// without the registry's name.
namespace edgegpu {

/// What an image is signed with.
struct ImageSigning {
    /// Fingerprint of a secret key (find_image_key).
    std::string key;
    /// GnuPG home with the key; empty: the user's.
    std::filesystem::path homedir;
    /// The directory of signatures; absolute.
    std::filesystem::path signatures;
};

/// What the program that signs gets in its environment.
[[nodiscard]] std::vector<std::string> signing_environment(const ImageSigning& signing);

/// The fingerprint of the only secret key in `homedir` that GnuPG knows as `key` (id, fingerprint,
/// address). Throws ErrorKind::usage for none, for several, and for one that has expired or is
/// revoked.
[[nodiscard]] std::string find_image_key(const Context& ctx, const std::string& key,
                                         const std::filesystem::path& homedir);

/// Where skopeo leaves the signature of the image in `layout`, beside it.
[[nodiscard]] std::filesystem::path signature_store(const std::filesystem::path& layout);

/// Writes the configuration (registries.d) by which skopeo leaves signatures in `store`, to the new
/// directory `store`.
void write_signature_store(const std::filesystem::path& store);

/// Has skopeo verify the signature in `store` of the image with this manifest, which was pushed to
/// `place`, and adds it to `signing.signatures`: in the place of the one that this key made for
/// this name, or behind those that are there, by other keys or for other names (another tag,
/// another registry), of which a node takes whichever fits. Throws Error if there is none, or it
/// would not be taken with the key.
void add_image_signature(const Context& ctx, const ImageSigning& signing,
                         const std::filesystem::path& store, const ImagePlace& place,
                         const std::filesystem::path& manifest, const std::string& digest);

}  // namespace edgegpu
