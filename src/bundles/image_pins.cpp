#include "bundles/image_pins.hpp"

#include <algorithm>
#include <optional>

#include "bundles/generated.hpp"
#include "bundles/pods.hpp"
#include "bundles/renderer.hpp"
#include "bundles/wanted_images.hpp"
#include "oci/reference.hpp"

namespace edgegpu {

ImagePins image_pins(const std::vector<KubeObject>& objects,
                     const std::map<std::string, std::string>& digests) {
    const std::vector<std::string> references = images_of(objects);
    ImagePins pins;
    for (const std::string& reference : references) {
        const auto digest = digests.find(wanted_name(reference));
        if (digest == digests.end() || reference.find('@') != std::string::npos) {
            continue;
        }
        const bool tagged = parts_of_image_name(reference).tag.has_value();
        const bool also_tagged = std::ranges::any_of(references, [&](const std::string& other) {
            return other.starts_with(reference + ':') || other.starts_with(reference + '@');
        });
        if (tagged || !also_tagged) {
            pins.emplace(reference, "sha256:" + digest->second);
        }
    }
    return pins;
}

std::vector<RenderedBundle> pin_bundles(const Context& ctx,
                                        const std::vector<BundleRequest>& requests,
                                        std::vector<RenderedBundle> bundles,
                                        const std::map<std::string, std::string>& digests) {
    std::optional<Renderer> renderer;
    for (std::size_t i = 0; i < bundles.size(); ++i) {
        std::vector<BundleImage> images;
        for (const auto& [reference, digest] : image_pins(bundles[i].objects, digests)) {
            images.push_back({reference, "", "", digest, requests[i].location});
        }
        if (images.empty()) {
            continue;
        }
        if (!renderer) {
            renderer = find_renderer(ctx);
        }
        const BundleFiles files = read_request_files(requests[i]);
        bundles[i] = render_bundle(ctx, *renderer, generate_bundle(files, requests[i], images));
    }
    return bundles;
}

}  // namespace edgegpu
