#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "bundles/render.hpp"
#include "bundles/wanted_images.hpp"
#include "execution/context.hpp"
#include "parent/parent_image.hpp"
#include "resolve/resolution.hpp"
#include "resolve/stage/resolve.hpp"

namespace edgegpu {

/// How a blueprint is resolved: anew, or by a lockfile.
struct ResolveTask {
    ResolveOptions options;
    /// The content of a lockfile; nothing: all is resolved anew.
    std::optional<Resolution> locked;
    /// With `locked`: the packages and images that are updated (--update), while all others stay
    /// (--keep). Nothing: everything must be as it is locked.
    std::optional<std::vector<std::string>> update;
};

/// A blueprint whose packages and images are known.
struct ResolvedBlueprint {
    /// The blueprint; `containers` has requests for embedded images after its own.
    Blueprint blueprint;
    Resolution resolution;
    /// With `[parent]`: what the image is a layer on.
    std::shared_ptr<ParentImage> parent;
};

/// Opens the parent of the blueprint, which is fetched and imported into the cache first if it is
/// an image; nullptr without `[parent]`. A ref stays at the commit that is locked, unless `task`
/// updates it. Throws as ParentImage and `fetch_images` do.
[[nodiscard]] std::shared_ptr<ParentImage> open_parent(const Context& ctx,
                                                       const Blueprint& blueprint,
                                                       const ResolveTask& task = {});

/// The packages of a parent, as the solver takes them.
[[nodiscard]] InstalledPackages installed_packages(const ParentImage& parent);

/// The images that MicroShift will start: of the bundles, of the lists in the resolution's packages
/// (microshift-release-info), which are fetched for this, and of those in the parent (nullptr:
/// there is none). Throws as `release_images`.
[[nodiscard]] std::vector<WantedImage> wanted_images(const Context& ctx, const Blueprint& blueprint,
                                                     const std::vector<RenderedBundle>& bundles,
                                                     const Resolution& resolution,
                                                     const ParentImage* parent = nullptr);

/// Resolves packages, prints which newer kernels and drivers were passed over, with the advisories
/// that the image misses as a result, and resolves container images: those of `[[containers]]`, and
/// those of the bundles and of MicroShift's own packages that `embed_images` chooses;
/// with `[parent]`, opens the parent first. `[health.gpu] workload_image` must be one of them
/// (check_workload_image). `bundles` are those of the blueprint, rendered; they are not looked at
/// without `embed_images`. Fetches microshift-release-info in between. Throws what `resolve`,
/// `resolve_locked` or `resolve_update` throws, and as `resolve_images` and `choose_images` do.
[[nodiscard]] ResolvedBlueprint resolve_blueprint(const Context& ctx, const Blueprint& blueprint,
                                                  const std::vector<RenderedBundle>& bundles,
                                                  const ResolveTask& task);

}  // namespace edgegpu
