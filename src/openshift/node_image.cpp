#include "openshift/node_image.hpp"

#include <algorithm>

#include "oci/manifest.hpp"
#include "oci/skopeo.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

/// The image of the architecture in an index; the digest itself is that of the image else.
void require_architecture(const ImageDocument& document, const std::string& name,
                          const std::string& architecture) {
    const bool there = !document.is_index() ||
                       std::ranges::any_of(document.index, [&](const PlatformManifest& one) {
                           return one.os == "linux" && one.architecture == architecture;
                       });
    if (!there) {
        throw error(ErrorKind::fetch, "image {} is for several architectures, without {}", name,
                    architecture);
    }
}

}  // namespace

void check_node_image(const Context& ctx, const OpenshiftRequest& request,
                      const std::string& architecture, const std::string& digest,
                      const CommitInfo& commit) {
    const ImageAccess access{{ImageTransport::docker, request.image},
                             request.tls_verify,
                             image_architecture(architecture)};
    const ImageAccess pinned = access.pinned(digest);
    const std::string& name = pinned.place.rest;
    const ImageDocument document = parse_manifest(read_image_manifest(ctx, access, digest), name);
    require_architecture(document, name, access.architecture);
    const std::string text = read_image_config(ctx, pinned);
    if (!document.is_index()) {
        const ImageConfig config = parse_image_config(text, document, name);
        if (config.architecture != access.architecture) {
            throw error(ErrorKind::fetch, "image {} is for {}, and the blueprint's nodes are {}",
                        name, config.architecture, access.architecture);
        }
    }
    if (image_label(text, "ostree.bootable").empty() &&
        image_label(text, "containers.bootc").empty()) {
        throw error(ErrorKind::fetch,
                    "image {} has neither label ostree.bootable nor containers.bootc: nodes would "
                    "refuse it, drained",
                    name)
            .hinted("push the commit with edgegpu image --type oci --output docker://…");
    }
    if (const std::string made_of = image_label(text, "ostree.commit");
        made_of != commit.checksum) {
        throw error(ErrorKind::fetch, "image {} is not of commit {}, but of {}", name,
                    commit.checksum, made_of.empty() ? "none" : made_of)
            .hinted(
                "give the digest that edgegpu image --type oci printed for this commit, or "
                "name the other commit with --commit");
    }
}

}  // namespace edgegpu
