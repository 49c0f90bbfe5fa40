#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "schema/kubernetes_version.hpp"

namespace edgegpu {

/// What the checks of bundles have to know of the image and of the devices that it is for.
struct ImageFacts {
    /// The one that the image's MicroShift carries.
    KubernetesVersion kubernetes;
    /// RPM's name: "x86_64"; empty: unknown.
    std::string architecture;
    /// A version or a branch of NVIDIA's driver ("535.261.03", "535"); empty: the image has none,
    /// or "latest" was asked for and nothing has been resolved.
    std::string driver;
    /// `[nvidia] devices`: "10de:20b7"
    std::vector<std::string> devices;
    /// `[nvidia] gpus`: how many each device has.
    std::optional<unsigned> gpus;
    /// `[nvidia.mig]`; empty: what instances there will be is not known.
    std::vector<MigLayout> mig;
    /// NVIDIA's driver is in the image, or may be there without `[nvidia]`: by other packages, an
    /// overlay, or a script of the first boot.
    bool may_have_driver = true;
    /// MicroShift may find manifests on the device that no bundle brings: of packages, an overlay,
    /// files, or a script of the first boot.
    bool may_have_manifests = true;
    /// Names of the image's packages; before it is resolved, of those that the blueprint names.
    std::set<std::string> packages;
    /// `[microshift] manifests`: whether MicroShift applies the bundles as one.
    ManifestsPlace manifests = ManifestsPlace::root;
    /// `[microshift] embed_images`
    std::vector<ImagePattern> embedded;
    /// Whether `packages` are all that the image will have.
    bool resolved = false;
    /// Whether the device has bundles that are not checked together with these: then nothing is
    /// said to be missing.
    bool partial = false;
    /// `[microshift] provided`
    std::vector<ProvidedObject> provided;

    /// Whether `provided` has the object; `name_space` is empty for kinds that belong to none.
    [[nodiscard]] bool provides(std::string_view kind, std::string_view name_space,
                                std::string_view name) const;
};

/// The Kubernetes that a MicroShift carries whose version is known from a request or a package
/// ("4.18.*", "4.18.5"); the nearest one that edgegpu has schemas of. For other text, and if it is
/// empty, the newest.
[[nodiscard]] KubernetesVersion kubernetes_for(std::string_view microshift);

/// What a blueprint says of its image, before anything is resolved.
[[nodiscard]] ImageFacts facts_of(const Blueprint& blueprint);

/// Of an image without blueprint only what every device has in common: the newest Kubernetes.
[[nodiscard]] ImageFacts facts_without_blueprint();

/// Whether one of these packages contains NVIDIA's driver, or may contain it by its name.
[[nodiscard]] bool may_bring_driver(const std::set<std::string>& packages);

}  // namespace edgegpu
