#include "resolve/stage/workload_image.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "oci/reference.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

/// Engines find an image by its whole name, and by a digest of it in a repository of its names: the
/// store has the manifest and the index that led to it.
bool is_called(const ResolvedImage& image, const std::string& name) {
    const ImageNameParts wanted = parts_of_image_name(name);
    if (image.name == name) {
        return true;
    }
    return wanted.digest && parts_of_image_name(image.name).repository == wanted.repository &&
           (*wanted.digest == "sha256:" + image.digest ||
            *wanted.digest == "sha256:" + image.manifest);
}

std::string names_of(const std::vector<ResolvedImage>& images) {
    constexpr std::size_t most = 10;
    std::string names;
    for (std::size_t i = 0; i < std::min(images.size(), most); ++i) {
        names += fmt::format("{}{}", i == 0 ? "" : ", ", images[i].name);
    }
    return names + (images.size() > most ? fmt::format(" and {} more", images.size() - most) : "");
}

}  // namespace

std::optional<std::string> check_workload_image(const Blueprint& blueprint,
                                                const std::vector<ResolvedImage>& images) {
    if (!blueprint.gpu_health || blueprint.gpu_health->workload_image.empty()) {
        return std::nullopt;
    }
    const GpuHealthRequest& health = *blueprint.gpu_health;
    if (images.empty() && !blueprint.container_store.empty()) {
        return std::nullopt;
    }
    if (images.empty()) {
        return fmt::format(
            "{}: this image has no container images, and gpu-health pulls none: on a device to "
            "which nobody has brought {}, vectorAdd does not run in containers, and only a note "
            "says so; add it as [[containers]]",
            health.workload_image_location.text(), health.workload_image);
    }
    const bool on_board = std::ranges::any_of(images, [&](const ResolvedImage& image) {
        return is_called(image, health.workload_image);
    });
    if (!on_board) {
        throw error_at(health.workload_image_location,
                       "workload_image {} is none of the container images that this image has: {}",
                       health.workload_image, names_of(images))
            .hinted("add it as [[containers]], or name one of these: gpu-health pulls nothing");
    }
    return std::nullopt;
}

std::optional<std::string> check_workload_image(const Blueprint& blueprint) {
    if (!blueprint.gpu_health || !blueprint.microshift.embed_images.empty() ||
        (!blueprint.containers.empty() &&
         parts_of_image_name(blueprint.gpu_health->workload_image).digest)) {
        return std::nullopt;
    }
    std::vector<ResolvedImage> images;
    for (const ContainerRequest& request : blueprint.containers) {
        images.push_back({request.source, request.name, {}, {}});
    }
    return check_workload_image(blueprint, images);
}

}  // namespace edgegpu
