#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bundles/checks/image_facts.hpp"
#include "bundles/pods.hpp"
#include "gpu/mig.hpp"

namespace edgegpu {

/// How NVIDIA's device plugin shares a resource between pods.
struct GpuSharing {
    std::uint64_t replicas = 1;
    /// The replicas have another name: "nvidia.com/gpu.shared".
    bool renamed = false;
    /// A container gets one replica and no more.
    bool one_only = false;
};

/// What the bundles offer to pods that want GPUs.
struct GpuSupply {
    /// Something offers GPUs: a device plugin, the GPU operator, or something that may install one
    /// of them (Argo CD, Flux, OLM).
    bool served = false;
    /// It is NVIDIA's plugin, and all that decides what it offers is in the bundles.
    bool understood = false;
    /// `sharing` is what the plugin does: it has one configuration. Else it is the most generous of
    /// several, and its names are uncertain.
    bool certain = false;
    /// The driver may come in a container, by the GPU operator.
    bool brings_driver = false;
    /// Objects come that are not in the bundles.
    bool brings_objects = false;
    /// Strategies for MIG that the plugin may have: "none", "single", "mixed".
    std::set<std::string> strategies;
    /// By resource without ".shared": "nvidia.com/gpu".
    std::map<std::string, GpuSharing> sharing;
    /// RuntimeClasses that exist.
    std::set<std::string> runtime_classes;
};

/// Reads it from all objects, and `pods`, theirs.
[[nodiscard]] GpuSupply gpu_supply_of(const std::vector<BundleObject>& objects,
                                      const std::vector<PodTemplate>& pods);

/// A resource without the suffix of its replicas: "nvidia.com/gpu" for "nvidia.com/gpu.shared".
[[nodiscard]] std::string unshared(std::string_view resource);

/// The profile of "nvidia.com/mig-1g.10gb"; nothing for other resources.
[[nodiscard]] std::optional<MigProfile> profile_of(std::string_view resource);

/// What is known of MIG on each of `facts.devices`.
[[nodiscard]] std::vector<MigSupport> mig_of_devices(const ImageFacts& facts);

/// As how many of a resource, without its replicas, a GPU is offered at most.
[[nodiscard]] std::uint64_t most_parts(const std::string& resource, const GpuSupply& supply,
                                       const ImageFacts& facts);

}  // namespace edgegpu
