#include "bundles/install/parent_bundles.hpp"

#include <map>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "blueprint/toml/mistakes.hpp"
#include "bundles/install/cluster_namespace.hpp"
#include "bundles/install/installed.hpp"
#include "schema/kind_problem.hpp"
#include "schema/kubernetes_schemas.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

/// Group, kind, namespace and name: all versions of an API group are the same object.
using Identity = std::tuple<std::string, std::string, std::string, std::string>;

Identity identity_in_cluster(const KubernetesSchemas& schemas, const KubeObject& object) {
    return {std::string(group_of(object.api_version)), object.kind,
            namespace_in_cluster(schemas, object.api_version, object.kind, object.name_space),
            object.name};
}

std::vector<KubeObject> objects_of_parent(const Context& ctx, const Renderer& renderer,
                                          const BundleFiles& bundle) {
    try {
        return render_bundle(ctx, renderer, bundle).objects;
    } catch (const Error& failure) {
        if (failure.kind() == ErrorKind::interrupted) {
            throw;
        }
        ctx.console->warn(fmt::format(
            "{} of the parent does not render: whether it has objects of the blueprint's bundles "
            "is unknown ({})",
            bundle.source.string(), failure.message()));
        return {};
    }
}

}  // namespace

void check_beside_parent(const Context& ctx, const std::vector<RenderedBundle>& bundles,
                         const ManifestFiles& parent, KubernetesVersion kubernetes) {
    if (bundles.empty() || parent.empty()) {
        return;
    }
    const KubernetesSchemas schemas(kubernetes);
    std::map<Identity, BundleObject> own;
    for (const BundleObject& each : objects_of(bundles)) {
        own.emplace(identity_in_cluster(schemas, *each.object), each);
    }
    const Renderer renderer = find_renderer(ctx);
    Mistakes mistakes;
    const auto refuse = [&](const BundleFiles& theirs, const char* text, const char* hint) {
        for (const KubeObject& object : objects_of_parent(ctx, renderer, theirs)) {
            const auto same = own.find(identity_in_cluster(schemas, object));
            if (same != own.end()) {
                mistakes.add(error(ErrorKind::usage, fmt::runtime(text),
                                   same->second.bundle->files.title(), same->second.object->title(),
                                   theirs.source.string())
                                 .hinted(hint));
            }
        }
    };
    for (const BundleFiles& bundle : installed_bundles(parent)) {
        refuse(bundle,
               "{}: {} is in {} of the parent, too: MicroShift applies both, and the last "
               "one wins",
               "give it another name or namespace, or leave it out of one of the two images");
    }
    for (const BundleFiles& tombstone : installed_tombstones(parent)) {
        refuse(tombstone, "{}: {} is deleted by {} of the parent, whenever MicroShift starts",
               "give it another name or namespace, or build a parent with [microshift] tombstones "
               "= 0 and without it");
    }
    mistakes.throw_any(bundles.front().files.location.file);
}

}  // namespace edgegpu
