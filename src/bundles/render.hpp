#pragma once

#include <string>
#include <vector>

#include "blueprint/microshift.hpp"
#include "bundles/bundle_files.hpp"
#include "bundles/objects.hpp"
#include "bundles/renderer.hpp"
#include "execution/context.hpp"

namespace edgegpu {

/// What MicroShift will apply of a bundle.
struct RenderedBundle {
    std::string name;
    /// what it was rendered from
    BundleFiles files;
    /// the renderer's output, YAML
    std::string text;
    std::vector<KubeObject> objects;
};

/// An object of one of several bundles.
struct BundleObject {
    const RenderedBundle* bundle = nullptr;
    const KubeObject* object = nullptr;
};

/// All objects, in the order of the bundles. They refer to `bundles`, which must outlive them.
[[nodiscard]] std::vector<BundleObject> objects_of(const std::vector<RenderedBundle>& bundles);

/// Checks a bundle and renders it with `renderer` in the sandbox: only the bundle's files, no
/// network, no plugins, no Helm, 2 GiB of memory, half a minute of processor time,
/// `time_of_renderer` in all. With a cache (`ctx.cache`) the output is kept under the digest of the
/// bundle and the renderer. Throws ErrorKind::usage for a bundle that MicroShift could not apply,
/// with all mistakes that `check_kustomizations` finds; Error if the sandbox cannot be created.
[[nodiscard]] RenderedBundle render_bundle(const Context& ctx, const Renderer& renderer,
                                           const BundleFiles& bundle);

/// The files of a bundle of the blueprint, from the copy of `take_snapshot` where there is one,
/// else from the user's directory; as read_bundle_files.
[[nodiscard]] BundleFiles read_request_files(const BundleRequest& request);

/// Renders one bundle as the blueprint wants it (`generate_bundle`); if that changes anything, the
/// bundle itself is rendered before, so that each mistake is reported where it is.
[[nodiscard]] RenderedBundle render_request(const Context& ctx, const Renderer& renderer,
                                            const BundleRequest& request);

/// Renders all bundles of a blueprint, from the copies of `take_snapshot` where there are any, else
/// from the user's directories. Throws the mistakes in all of them together.
[[nodiscard]] std::vector<RenderedBundle> render_bundles(const Context& ctx,
                                                         const std::vector<BundleRequest>& bundles);

}  // namespace edgegpu
