#include "pipeline/resolve_blueprint.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "fetch/images.hpp"
#include "fetch/release_images.hpp"
#include "parent/container_import.hpp"
#include "resolve/stage/drift.hpp"
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
                       : resolve_locked(ctx, blueprint, *task.locked, task.options);
}

/// As lockfiles name it.
std::string name_of(const ParentRequest& request) {
    return request.image ? request.image->source : request.ref;
}

ResolvedParent describe_parent(const ParentRequest& request, const ParentImage& parent) {
    const CommitInfo& info = parent.info();
    ResolvedParent result{name_of(request), info.checksum, info.manifest_digest, {}, {}};
    for (const ImportedPackage& package : parent.packages()) {
        result.packages.push_back(package.nevra);
    }
    for (const CommitImage& image : info.images) {
        const std::string digest =
            image.digest.starts_with("sha256:") ? image.digest.substr(7) : "";
        result.images.push_back({"", image.name, digest, digest, image.size});
    }
    return result;
}

/// Throws unless what is locked is this parent. Of an image with layers above its commit, another
/// version of edgegpu may make another commit.
void require_locked_parent(const std::optional<ResolvedParent>& locked, const ResolvedParent& now) {
    if (!locked) {
        throw_drift({fmt::format("[parent] is {}, and none is locked", now.name)});
    }
    const bool same_image = !now.image_digest.empty() && locked->image_digest == now.image_digest;
    if (locked->name != now.name || (locked->commit != now.commit && !same_image)) {
        throw_drift({fmt::format("[parent] is {} ({}), locked is {} ({})", now.name, now.commit,
                                 locked->name, locked->commit)});
    }
}

Resolution resolve_on_parent(const Context& ctx, const Blueprint& blueprint,
                             const ResolveTask& task, const ParentImage& parent) {
    if (!parent.info().driver.empty() && blueprint.nvidia) {
        throw error(ErrorKind::usage, "{}: {} has NVIDIA driver {} already",
                    blueprint.nvidia->location.text(), parent.name(), parent.info().driver)
            .hinted("leave out [nvidia], or name a parent without a driver");
    }
    ResolvedParent described = describe_parent(*blueprint.parent, parent);
    const InstalledPackages installed = installed_packages(parent);
    ResolveTask layered = task;
    layered.options.installed = &installed;
    if (task.locked) {
        if (!task.update) {
            require_locked_parent(task.locked->parent, described);
        }
        // The driver of the parent is none of the layer's packages.
        if (!blueprint.nvidia && task.locked->driver_version == parent.info().driver) {
            layered.locked->driver_version.clear();
        }
    }
    Resolution resolution = resolve_packages(ctx, blueprint, layered);
    resolution.parent = std::move(described);
    if (resolution.driver_version.empty()) {
        resolution.driver_version = parent.info().driver;
    }
    return resolution;
}

/// The parent; a ref whose commit is locked stays at it, unless it is to be updated.
ParentRequest request_of(const Blueprint& blueprint, const ResolveTask& task) {
    ParentRequest request = blueprint.parent.value();
    if (!task.locked || !task.locked->parent || request.image ||
        task.locked->parent->name != request.ref) {
        return request;
    }
    const bool updated =
        task.update && std::ranges::any_of(*task.update, [&](const std::string& pattern) {
            return names_parent(*task.locked, pattern);
        });
    if (!updated) {
        request.ref = task.locked->parent->commit;
    }
    return request;
}

}  // namespace

InstalledPackages installed_packages(const ParentImage& parent) {
    return {parent.name(), parent.headers(), parent.kernel()};
}

std::shared_ptr<ParentImage> open_parent(const Context& ctx, const Blueprint& blueprint,
                                         const ResolveTask& task) {
    if (!blueprint.parent) {
        return nullptr;
    }
    ParentRequest request = request_of(blueprint, task);
    if (request.image) {
        const std::vector<ContainerRequest> wanted{*request.image};
        const std::vector<StoredImage> images =
            fetch_images(ctx, resolve_images(ctx, wanted, blueprint.architecture), wanted,
                         blueprint.architecture);
        ImportedCommit imported = import_container(ctx, images.front(), request.image->location);
        request.repository = std::move(imported.repository);
        request.ref = std::move(imported.checksum);
    }
    try {
        return std::make_shared<ParentImage>(ctx, request, blueprint.architecture);
    } catch (Error& failure) {
        if (!request.image && request.ref != blueprint.parent->ref) {
            failure.traced(
                fmt::format("the lockfile has this commit of {}; --update {} takes the "
                            "ref's present one",
                            blueprint.parent->ref, blueprint.parent->ref));
        }
        throw;
    }
}

namespace {

/// Requests for the images that `embed_images` chooses, but for those that the parent has.
std::vector<ContainerRequest> embedded(const Context& ctx, const Blueprint& blueprint,
                                       const std::vector<RenderedBundle>& bundles,
                                       const Resolution& resolution, const ParentImage* parent) {
    const std::vector<ImagePattern>& patterns = blueprint.microshift.embed_images;
    if (patterns.empty()) {
        return {};
    }
    std::vector<WantedImage> chosen =
        choose_images(patterns, wanted_images(ctx, blueprint, bundles, resolution, parent));
    if (resolution.parent) {
        std::erase_if(chosen, [&](const WantedImage& image) {
            const std::vector<ResolvedImage>& there = resolution.parent->images;
            return std::ranges::find(there, image.name, &ResolvedImage::name) != there.end();
        });
    }
    return embedding_requests(chosen, blueprint.containers, patterns.front().location);
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
                                       const Resolution& resolution, const ParentImage* parent) {
    std::vector<WantedImage> wanted = images_wanted_by(bundles);
    if (parent != nullptr) {
        const auto is_list = [&](const std::string& file) {
            return is_release_list(file, blueprint.architecture);
        };
        for (const auto& [file, text] :
             parent->read_texts(std::string(release_directory), is_list)) {
            const std::string called = fmt::format("{}: {}", parent->name(), file);
            for (const std::string& reference : parse_release_images(text, called)) {
                add_wanted(wanted, {{wanted_name(reference), {parent->name()}}});
            }
        }
    }
    for (const ReleaseImage& image :
         release_images(ctx, resolution, blueprint.repositories, blueprint.architecture)) {
        add_wanted(wanted, {{wanted_name(image.reference), {image.package}}});
    }
    return wanted;
}

ResolvedBlueprint resolve_blueprint(const Context& ctx, const Blueprint& blueprint,
                                    const std::vector<RenderedBundle>& bundles,
                                    const ResolveTask& task) {
    ResolvedBlueprint result{blueprint, {}, open_parent(ctx, blueprint, task)};
    if (result.parent) {
        result.resolution = resolve_on_parent(ctx, blueprint, task, *result.parent);
    } else {
        if (task.locked && task.locked->parent && !task.update) {
            throw_drift(
                {fmt::format("{} is locked as the parent, and the blueprint has no "
                             "[parent]",
                             task.locked->parent->name)});
        }
        result.resolution = resolve_packages(ctx, blueprint, task);
    }
    // Of a lockfile as well: what an image misses does not depend on when it was found.
    for (const PassedOver& passed : result.resolution.passed_over) {
        ctx.console->note(passed.text());
    }
    std::vector<ContainerRequest> requests =
        embedded(ctx, blueprint, bundles, result.resolution, result.parent.get());
    result.blueprint.containers.insert(result.blueprint.containers.end(), requests.begin(),
                                       requests.end());
    result.resolution.images = images_of_task(ctx, result.blueprint, task);
    if (const auto warning = check_workload_image(result.blueprint, result.resolution.images)) {
        ctx.console->warn(*warning);
    }
    return result;
}

}  // namespace edgegpu
