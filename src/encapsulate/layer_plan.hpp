#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace edgegpu {

/// Layers of an image, together with the first.
inline constexpr std::size_t most_layers = 64;

/// A layer that is to be written.
struct PlannedLayer {
    /// That of its only component, or "packages NN": the same from one version to the next.
    std::string name;
    /// names of its components, sorted
    std::vector<std::string> components;
};

/// Names of components of an earlier version's layers: name of the layer → components.
using EarlierLayers = std::map<std::string, std::vector<std::string>>;

/// Assigns components (name → uncompressed bytes) to layers, of which the first has the metadata
/// of the commit and the component `unpackaged_component`. Large components have a layer of their
/// own, the others one of 24, which their names alone decide: a component that grows, appears or
/// goes moves no other. What is large is a power of two of at least 8 MiB, as low as 64 layers
/// allow. Components of `earlier` stay in the layers that they had, as far as there are no more
/// than 64. Layers are sorted by name, and have at least one component except for the first.
[[nodiscard]] std::vector<PlannedLayer> plan_layers(
    const std::map<std::string, std::uint64_t>& components, const EarlierLayers& earlier = {});

}  // namespace edgegpu
