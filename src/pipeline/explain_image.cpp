#include "pipeline/explain_image.hpp"

#include <algorithm>
#include <memory>

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

std::vector<WantedImage> wanted_with_packages(const Context& ctx, const Blueprint& blueprint,
                                              const std::vector<RenderedBundle>& bundles) {
    const std::shared_ptr<ParentImage> parent = open_parent(ctx, blueprint);
    if (!parent) {
        return wanted_images(ctx, blueprint, bundles, resolve(ctx, blueprint));
    }
    const InstalledPackages installed = installed_packages(*parent);
    const Resolution resolution = resolve(ctx, blueprint, {false, &installed});
    return wanted_images(ctx, blueprint, bundles, resolution, parent.get());
}

}  // namespace

bool names_images(std::string_view spec) {
    return !spec.starts_with('/') && spec.find('/') != std::string_view::npos;
}

PackageAnswer why_package_of_image(const Context& ctx, const Blueprint& blueprint,
                                   const std::string& spec) {
    const std::shared_ptr<ParentImage> parent = open_parent(ctx, blueprint);
    if (!parent) {
        return why_package(ctx, blueprint, spec);
    }
    const InstalledPackages installed = installed_packages(*parent);
    return why_package(ctx, blueprint, spec, {false, &installed});
}

std::vector<ImageReason> why_image(const Context& ctx, const Blueprint& blueprint,
                                   const std::string& spec) {
    const std::vector<RenderedBundle> bundles = render_bundles(ctx, blueprint.microshift.bundles);
    const bool embeds = !blueprint.microshift.embed_images.empty();
    std::vector<WantedImage> wanted =
        embeds ? wanted_with_packages(ctx, blueprint, bundles) : images_wanted_by(bundles);
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
