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
/// address). Throws ErrorKind::usage for none, or several.
[[nodiscard]] std::string find_image_key(const Context& ctx, const std::string& key,
                                         const std::filesystem::path& homedir);

/// Writes the configuration (registries.d) by which skopeo leaves signatures in
/// `signing.signatures`, to the new directory `directory`.
void write_signature_store(const ImageSigning& signing, const std::filesystem::path& directory);

/// Has skopeo verify the newest signature of the image with this manifest, which was pushed to
/// `place`. Throws Error if there is none, or it would not be taken with the key.
void verify_image_signature(const Context& ctx, const ImageSigning& signing,
                            const ImagePlace& place, const std::filesystem::path& manifest,
                            const std::string& digest);

}  // namespace edgegpu
