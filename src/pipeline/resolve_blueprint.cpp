#include "pipeline/resolve_blueprint.hpp"

#include <utility>

#include "fetch/images.hpp"
#include "fetch/release_images.hpp"
#include "parent/container_import.hpp"
#include "resolve/stage/resolve_images.hpp"
#include "resolve/stage/workload_image.hpp"
#include "support/error.hpp"

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

/// Of what the parent has, the metadata of the new commit tell as well.
void take_over(const CommitInfo& parent, Resolution& resolution) {
    resolution.parent = parent.checksum;
    for (const CommitImage& image : parent.images) {
        const std::string digest =
            image.digest.starts_with("sha256:") ? image.digest.substr(7) : "";
        resolution.parent_images.push_back({"", image.name, digest, digest, image.size});
    }
    if (resolution.driver_version.empty()) {
        resolution.driver_version = parent.driver;
    }
}

Resolution resolve_on_parent(const Context& ctx, const Blueprint& blueprint,
                             const ResolveTask& task, const ParentImage& parent) {
    if (!parent.info().driver.empty() && blueprint.nvidia) {
        throw error(ErrorKind::usage, "{}: {} has NVIDIA driver {} already",
                    blueprint.nvidia->location.text(), parent.name(), parent.info().driver)
            .hinted("leave out [nvidia], or name a parent without a driver");
    }
    const InstalledPackages installed{parent.name(), parent.headers(), parent.kernel()};
    ResolveTask layered = task;
    layered.options.installed = &installed;
    Resolution resolution = resolve_packages(ctx, blueprint, layered);
    take_over(parent.info(), resolution);
    return resolution;
}

/// Opens the parent; one that is an image is fetched and imported into the cache first.
std::shared_ptr<ParentImage> open_parent(const Context& ctx, const Blueprint& blueprint) {
    ParentRequest request = blueprint.parent.value();
    if (request.image) {
        const std::vector<ContainerRequest> wanted{*request.image};
        const std::vector<StoredImage> images =
            fetch_images(ctx, resolve_images(ctx, wanted, blueprint.architecture), wanted,
                         blueprint.architecture);
        ImportedCommit imported = import_container(ctx, images.front(), request.image->location);
        request.repository = std::move(imported.repository);
        request.ref = std::move(imported.checksum);
    }
    return std::make_shared<ParentImage>(ctx, request, blueprint.architecture);
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
    ResolvedBlueprint result{blueprint, {}, nullptr};
    if (blueprint.parent) {
        result.parent = open_parent(ctx, blueprint);
        result.resolution = resolve_on_parent(ctx, blueprint, task, *result.parent);
    } else {
        result.resolution = resolve_packages(ctx, blueprint, task);
    }
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
