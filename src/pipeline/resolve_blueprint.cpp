#include "pipeline/resolve_blueprint.hpp"

#include "fetch/release_images.hpp"
#include "resolve/stage/resolve_images.hpp"
#include "resolve/stage/workload_image.hpp"

namespace edgegpu {

namespace {

Resolution resolve_packages(const Context& ctx, const Blueprint& blueprint,
                            const ResolveTask& task) {
    if (!task.locked) {
        return resolve(ctx, blueprint, task.options);
    }
    return task.update ? resolve_update(ctx, blueprint, *task.locked, *task.update, task.options)
                       : resolve_locked(ctx, blueprint, *task.locked);
}

/// Requests for the images that `embed_images` chooses.
std::vector<ContainerRequest> embedded(const Context& ctx, const Blueprint& blueprint,
                                       const std::vector<RenderedBundle>& bundles,
                                       const Resolution& resolution) {
    const std::vector<ImagePattern>& patterns = blueprint.microshift.embed_images;
    if (patterns.empty()) {
        return {};
    }
    const std::vector<WantedImage> wanted = wanted_images(ctx, blueprint, bundles, resolution);
    return embedding_requests(choose_images(patterns, wanted), blueprint.containers,
                              patterns.front().location);
}

std::vector<ResolvedImage> images_of_task(const Context& ctx, const Blueprint& blueprint,
                                          const ResolveTask& task) {
    if (!task.locked) {
        return resolve_images(ctx, blueprint.containers, blueprint.architecture);
    }
    return task.update ? update_images(ctx, blueprint.containers, blueprint.architecture,
                                       task.locked->images, *task.update)
                       : require_locked_images(blueprint.containers, task.locked->images);
}

}  // namespace

std::vector<WantedImage> wanted_images(const Context& ctx, const Blueprint& blueprint,
                                       const std::vector<RenderedBundle>& bundles,
                                       const Resolution& resolution) {
    std::vector<WantedImage> wanted = images_wanted_by(bundles);
    for (const ReleaseImage& image :
         release_images(ctx, resolution, blueprint.repositories, blueprint.architecture)) {
        add_wanted(wanted, {{wanted_name(image.reference), {image.package}}});
    }
    return wanted;
}

ResolvedBlueprint resolve_blueprint(const Context& ctx, const Blueprint& blueprint,
                                    const std::vector<RenderedBundle>& bundles,
                                    const ResolveTask& task) {
    ResolvedBlueprint result{blueprint, resolve_packages(ctx, blueprint, task)};
    // Of a lockfile as well: what an image misses does not depend on when it was found.
    for (const PassedOver& passed : result.resolution.passed_over) {
        ctx.console->note(passed.text());
    }
    std::vector<ContainerRequest> requests = embedded(ctx, blueprint, bundles, result.resolution);
    result.blueprint.containers.insert(result.blueprint.containers.end(), requests.begin(),
                                       requests.end());
    result.resolution.images = images_of_task(ctx, result.blueprint, task);
    if (const auto warning = check_workload_image(result.blueprint, result.resolution.images)) {
        ctx.console->warn(*warning);
    }
    return result;
}

}  // namespace edgegpu
