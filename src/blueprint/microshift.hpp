#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "blueprint/stored_source.hpp"
#include "support/source_location.hpp"

/// `[microshift]`: what MicroShift applies on the device, and how it is configured.
namespace edgegpu {

/// A bundle of `microshift.bundles`: a directory that kustomize can render, absolute, and its name.
struct BundleRequest {
    std::string name;
    std::filesystem::path source;
    SourceLocation location;
    /// Copy of `source`; null before `take_snapshot`.
    std::shared_ptr<const StoredSource> stored = nullptr;
};

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

/// `[microshift]`.
struct MicroshiftRequest {
    std::vector<BundleRequest> bundles;
    /// What the checks of bundles do not miss, although no bundle brings it.
    std::vector<ProvidedObject> provided;
    /// Beginning of the table; no file if the blueprint has none.
    SourceLocation location;
};

}  // namespace edgegpu
