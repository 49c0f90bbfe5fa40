#include "bundles/checks/image_facts.hpp"

#include <algorithm>

#include "bundles/schema/kubernetes_schemas.hpp"

namespace edgegpu {

namespace {

/// The name of a request for a package: "microshift" of "microshift-4.18.*". What follows a hyphen
/// begins with a digit if it is a version.
std::string name_in(std::string_view spec) {
    for (std::size_t at = spec.find('-'); at != std::string_view::npos;
         at = spec.find('-', at + 1)) {
        const char next = at + 1 < spec.size() ? spec[at + 1] : '\0';
        if ((next >= '0' && next <= '9') || next == '*') {
            return std::string(spec.substr(0, at));
        }
    }
    return std::string(spec);
}

}  // namespace

KubernetesVersion kubernetes_for(std::string_view microshift) {
    const KubernetesRange range = KubernetesSchemas::shipped_versions();
    const KubernetesVersion wanted = kubernetes_of_microshift(microshift).value_or(range.last);
    return {std::clamp(wanted.minor, range.first.minor, range.last.minor)};
}

ImageFacts facts_of(const Blueprint& blueprint) {
    constexpr std::string_view microshift = "microshift-";
    ImageFacts facts;
    std::string_view version;
    for (const PackageRequest& request : blueprint.packages) {
        const std::string name = name_in(request.spec);
        if (name == "microshift" && request.spec.starts_with(microshift)) {
            version = std::string_view(request.spec).substr(microshift.size());
        }
        facts.packages.insert(name);
    }
    facts.kubernetes = kubernetes_for(version);
    facts.architecture = blueprint.architecture;
    facts.manifests = blueprint.microshift.manifests;
    facts.embedded = blueprint.microshift.embed_images;
    facts.provided = blueprint.microshift.provided;
    if (blueprint.nvidia) {
        facts.driver = blueprint.nvidia->driver == "latest" ? "" : blueprint.nvidia->driver;
        facts.devices = blueprint.nvidia->devices;
    }
    return facts;
}

}  // namespace edgegpu
