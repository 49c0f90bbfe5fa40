#include "pipeline/explain_image.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fnmatch.h>

#include "bundles/render.hpp"
#include "bundles/wanted_images.hpp"
#include "pipeline/resolve_blueprint.hpp"

namespace edgegpu {

namespace {

bool is_named(const std::string& spec, const std::string& name) {
    const std::size_t tag = name.find_first_of(":@", name.rfind('/') + 1);
    return ::fnmatch(spec.c_str(), name.c_str(), 0) == 0 ||
           ::fnmatch(spec.c_str(), name.substr(0, tag).c_str(), 0) == 0;
}

}  // namespace

bool names_images(std::string_view spec) {
    return !spec.starts_with('/') && spec.find('/') != std::string_view::npos;
}

std::vector<ImageReason> why_image(const Context& ctx, const Blueprint& blueprint,
                                   const std::string& spec) {
    const std::vector<RenderedBundle> bundles = render_bundles(ctx, blueprint.microshift.bundles);
    const bool embeds = !blueprint.microshift.embed_images.empty();
    std::vector<WantedImage> wanted =
        embeds ? wanted_images(ctx, blueprint, bundles, resolve(ctx, blueprint))
               : images_wanted_by(bundles);
    std::vector<WantedImage> present = choose_images(blueprint.microshift.embed_images, wanted);
    for (const ContainerRequest& request : blueprint.containers) {
        const WantedImage own{request.name,
                              {fmt::format("{} [[containers]]", request.location.text())}};
        add_wanted(wanted, {own});
        add_wanted(present, {own});
    }
    std::vector<ImageReason> reasons;
    for (const WantedImage& image : wanted) {
        if (is_named(spec, image.name)) {
            const bool there = std::ranges::any_of(
                present, [&](const WantedImage& one) { return one.name == image.name; });
            reasons.push_back({image.name, there, image.wanted_by});
        }
    }
    return reasons;
}

}  // namespace edgegpu
