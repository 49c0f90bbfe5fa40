#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "bundles/pods.hpp"

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

}  // namespace edgegpu
