#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "blueprint/stored_source.hpp"
#include "support/source_location.hpp"
#include "support/text/enum_names.hpp"

/// `[microshift]`: what MicroShift applies on the device, and how it is configured.
namespace edgegpu {

/// A component of a bundle, a directory of its `components`.
struct BundleComponent {
    std::string name;
    SourceLocation location;
};

/// An entry of a kustomization's `images`: what replaces an image's name, tag or digest. Empty: as
/// it is.
struct BundleImage {
    /// without tag and digest: "nvcr.io/nvidia/k8s-device-plugin"
    std::string name;
    std::string new_name;
    std::string new_tag;
    /// "sha256:…"
    std::string digest;
    SourceLocation location;
};

/// An entry of a kustomization's `replicas`.
struct BundleReplicas {
    /// the object's name
    std::string name;
    std::int64_t count = 0;
    SourceLocation location;
};

/// Which objects a patch is for; regular expressions, empty: any.
struct PatchTarget {
    std::string group;
    std::string version;
    std::string kind;
    std::string name;
    std::string name_space;
    std::string label_selector;
    std::string annotation_selector;
};

/// An entry of a kustomization's `patches`.
struct BundlePatch {
    /// YAML or JSON: a strategic merge patch, or the operations of a JSON patch (RFC 6902).
    std::string text;
    std::optional<PatchTarget> target;
    SourceLocation location;
};

/// The content of a config map, as a whole or in addition to what the bundle has in it.
struct BundleValues {
    /// the config map's name
    std::string name;
    std::map<std::string, std::string> entries;
    SourceLocation location;
};

/// A bundle of `microshift.bundles`: a directory that kustomize can render, absolute, and what the
/// blueprint changes of it.
struct BundleRequest {
    std::string name;
    std::filesystem::path source;
    SourceLocation location;
    /// Copy of `source`; null before `take_snapshot`.
    std::shared_ptr<const StoredSource> stored = nullptr;
    /// Of all its objects; empty: as they are.
    std::string name_space = {};
    std::vector<BundleComponent> components = {};
    std::vector<BundleImage> images = {};
    std::vector<BundleReplicas> replicas = {};
    std::vector<BundlePatch> patches = {};
    std::vector<BundleValues> values = {};
};

/// A pattern of `microshift.embed_images`.
struct ImagePattern {
    /// fnmatch(3) on complete names; "*" for `true`
    std::string glob;
    SourceLocation location;
};

/// `[microshift] manifests`: where the bundles are in the image. `root`: one kustomization over all
/// of them, which MicroShift applies as a whole; otherwise each is applied by itself.
enum class ManifestsPlace { root, etc, usr };

constexpr std::string_view enum_name(ManifestsPlace place) {
    return nth_name(place, {"/etc/microshift/manifests", "/etc/microshift/manifests.d",
                            "/usr/lib/microshift/manifests.d"});
}

/// An object of `microshift.provided`: something other than the bundles creates it.
struct ProvidedObject {
    /// One of `provided_kinds`.
    std::string kind;
    /// Empty for kinds whose objects do not belong to namespaces.
    std::string name_space;
    /// "*": all of them.
    std::string name;
    SourceLocation location;
};

/// A kind of `microshift.provided`.
struct ProvidedKind {
    std::string_view kind;
    bool namespaced = true;
};

/// What may be said to be provided: every kind to which objects of bundles refer by name.
inline constexpr std::array<ProvidedKind, 17> provided_kinds{{
    {"ClusterRole", false},
    {"ConfigMap"},
    {"CustomResourceDefinition", false},
    {"Deployment"},
    {"Namespace", false},
    {"PersistentVolumeClaim"},
    {"Pod"},
    {"PriorityClass", false},
    {"ReplicaSet"},
    {"ReplicationController"},
    {"Role"},
    {"RuntimeClass", false},
    {"Secret"},
    {"Service"},
    {"ServiceAccount"},
    {"StatefulSet"},
    {"StorageClass", false},
}};

/// `[microshift.config]`: MicroShift's own configuration.
struct MicroshiftConfig {
    /// A JSON object whose keys are sorted: it does not depend on how the TOML is written.
    std::string document;
    /// JSON pointer (RFC 6901) of each value in it → its key in the blueprint.
    std::map<std::string, SourceLocation> places;
    SourceLocation location;
};

/// `[microshift]`.
struct MicroshiftRequest {
    std::vector<BundleRequest> bundles;
    /// Which images of bundles and of MicroShift are in the image; empty: none.
    std::vector<ImagePattern> embed_images;
    ManifestsPlace manifests = ManifestsPlace::root;
    /// For how many commits the objects of a bundle that is gone are deleted; 0: never.
    std::int64_t tombstones = 5;
    /// Whether this is also done to objects that hold data or other objects.
    bool delete_data = false;
    /// What the checks of bundles do not miss, although no bundle brings it.
    std::vector<ProvidedObject> provided;
    /// Nothing: the blueprint has no such table, or an empty one.
    std::optional<MicroshiftConfig> config;
    /// Open what MicroShift needs where the image has firewalld.
    bool firewall = true;
    /// Beginning of the table; no file if the blueprint has none.
    SourceLocation location;
};

}  // namespace edgegpu
