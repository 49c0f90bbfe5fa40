#include "encapsulate/layer_plan.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "encapsulate/components.hpp"
#include "support/files/digest.hpp"

namespace edgegpu {

namespace {

constexpr std::size_t shared_layers = 24;
/// Without the first and the shared ones.
constexpr std::size_t own_layers = most_layers - 1 - shared_layers;
constexpr std::uint64_t smallest_large = 8U << 20U;

/// "packages 07"
std::string shared_layer(const std::string& component) {
    const std::string digest = sha256_hex(component);
    const unsigned long number = std::stoul(digest.substr(0, 8), nullptr, 16);
    return fmt::format("packages {:02}", number % shared_layers);
}

bool is_shared(const std::string& layer) {
    return layer.starts_with("packages ");
}

using Sizes = std::map<std::string, std::uint64_t>;

/// What is larger has a layer of its own.
std::uint64_t limit_for(const Sizes& sizes, std::size_t available) {
    const auto larger = [&](std::uint64_t limit) {
        return static_cast<std::size_t>(
            std::count_if(sizes.begin(), sizes.end(),
                          [&](const auto& component) { return component.second > limit; }));
    };
    std::uint64_t limit = smallest_large - 1;
    // A damaged commit may claim any size: the largest number is the last limit.
    while (larger(limit) > available) {
        limit = 2 * limit + 1;
    }
    return limit;
}

/// Components that had layers of their own and still exist; nothing of it if they are too many.
std::set<std::string> kept_alone(const Sizes& sizes, const EarlierLayers& earlier) {
    std::set<std::string> alone;
    for (const auto& [layer, components] : earlier) {
        if (!is_shared(layer) && components.size() == 1 && components.front() == layer &&
            sizes.contains(layer)) {
            alone.insert(layer);
        }
    }
    return alone.size() > own_layers ? std::set<std::string>() : alone;
}

std::set<std::string> kept_shared(const EarlierLayers& earlier) {
    std::set<std::string> shared;
    for (const auto& [layer, components] : earlier) {
        if (is_shared(layer)) {
            shared.insert(components.begin(), components.end());
        }
    }
    return shared;
}

}  // namespace

std::vector<PlannedLayer> plan_layers(const Sizes& components, const EarlierLayers& earlier) {
    Sizes open = components;
    open.erase(unpackaged_component);
    std::set<std::string> alone = kept_alone(open, earlier);
    const std::set<std::string> shared = kept_shared(earlier);
    Sizes undecided;
    std::copy_if(open.begin(), open.end(), std::inserter(undecided, undecided.end()),
                 [&](const auto& component) {
                     return !alone.contains(component.first) && !shared.contains(component.first);
                 });
    const std::uint64_t limit = limit_for(undecided, own_layers - alone.size());
    std::map<std::string, std::vector<std::string>> layers;
    for (const auto& [name, size] : open) {
        const bool own = alone.contains(name) || (undecided.contains(name) && size > limit);
        layers[own ? name : shared_layer(name)].push_back(name);
    }
    std::vector<PlannedLayer> plan{{"commit", {}}};
    if (components.contains(unpackaged_component)) {
        plan.front().components = {unpackaged_component};
    }
    for (auto& [name, members] : layers) {
        plan.push_back({name, std::move(members)});
    }
    return plan;
}

}  // namespace edgegpu
