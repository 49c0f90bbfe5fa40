#pragma once

#include <string>
#include <vector>

#include "blueprint/containers.hpp"
#include "blueprint/microshift.hpp"
#include "bundles/render.hpp"

namespace edgegpu {

/// A container image that MicroShift will start on the device.
struct WantedImage {
    /// Complete name, by digest where the reference has one: "quay.io/x/app:1",
    /// "quay.io/x/app@sha256:…"; the reference itself if it is not a valid name.
    std::string name;
    /// Who refers to it: "bundle \"app\": Deployment x/y", "microshift-release-info".
    std::vector<std::string> wanted_by;
};

/// The name of WantedImage for a reference as manifests have it ("busybox").
[[nodiscard]] std::string wanted_name(const std::string& reference);

/// The images of all containers and volumes of the bundles' pods, sorted by name, each once.
/// References inside custom resources, arguments and environment are not known to be images.
[[nodiscard]] std::vector<WantedImage> images_wanted_by(const std::vector<RenderedBundle>& bundles);

/// `more` added to `images`, which stay sorted with each name once.
void add_wanted(std::vector<WantedImage>& images, const std::vector<WantedImage>& more);

/// Whether one of `patterns` (shell globs as in fnmatch(3)) matches a complete name.
[[nodiscard]] bool is_chosen(const std::vector<ImagePattern>& patterns, const std::string& name);

/// Those of `wanted` that one of `patterns` matches. Throws ErrorKind::usage for a pattern that
/// matches none, with similar names, and for a chosen reference that is not a valid name.
[[nodiscard]] std::vector<WantedImage> choose_images(const std::vector<ImagePattern>& patterns,
                                                     const std::vector<WantedImage>& wanted);

/// Requests for those of `chosen` that none of `containers` (`[[containers]]`) provides under this
/// name; `location` is that of `embed_images`.
[[nodiscard]] std::vector<ContainerRequest> embedding_requests(
    const std::vector<WantedImage>& chosen, const std::vector<ContainerRequest>& containers,
    const SourceLocation& location);

}  // namespace edgegpu
