#include "encapsulate/layer_plan.hpp"

#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "encapsulate/components.hpp"

namespace edgegpu {
namespace {

using ComponentSizes = std::map<std::string, std::uint64_t>;
constexpr std::uint64_t layer_mebibyte = 1U << 20U;

/// Layer of each component.
std::map<std::string, std::string> placed(const std::vector<PlannedLayer>& plan) {
    std::map<std::string, std::string> layers;
    for (const PlannedLayer& layer : plan) {
        for (const std::string& component : layer.components) {
            EXPECT_TRUE(layers.emplace(component, layer.name).second) << component;
        }
    }
    return layers;
}

EarlierLayers as_earlier(const std::vector<PlannedLayer>& plan) {
    EarlierLayers earlier;
    for (const PlannedLayer& layer : plan) {
        earlier[layer.name] = layer.components;
    }
    return earlier;
}

ComponentSizes many(std::size_t count, std::uint64_t size) {
    ComponentSizes sizes;
    for (std::size_t i = 0; i < count; ++i) {
        sizes[fmt::format("package-{}", i)] = size;
    }
    return sizes;
}

TEST(LayerPlan, EachComponentIsInOneOfAtMost64Layers) {
    for (const std::size_t count : {0U, 1U, 5U, 38U, 39U, 40U, 200U, 2000U}) {
        for (const std::uint64_t size : {std::uint64_t{0}, 3 * layer_mebibyte, 8 * layer_mebibyte,
                                         900 * layer_mebibyte, UINT64_MAX}) {
            ComponentSizes sizes = many(count, size);
            sizes[unpackaged_component] = 5000 * layer_mebibyte;
            const auto plan = plan_layers(sizes);
            EXPECT_LE(plan.size(), most_layers) << count;
            EXPECT_EQ(placed(plan).size(), sizes.size()) << count << ' ' << size;
            EXPECT_EQ(plan.front().name, "commit");
            EXPECT_EQ(plan.front().components, std::vector<std::string>{unpackaged_component});
            for (std::size_t i = 1; i < plan.size(); ++i) {
                EXPECT_FALSE(plan[i].components.empty()) << plan[i].name;
            }
        }
    }
}

TEST(LayerPlan, TheFirstLayerIsThereWithoutAnything) {
    const auto plan = plan_layers({});
    ASSERT_EQ(plan.size(), 1U);
    EXPECT_TRUE(plan.front().components.empty());
}

TEST(LayerPlan, LargeComponentsHaveLayersOfTheirOwn) {
    ComponentSizes sizes = many(300, 100'000);
    sizes["kernel"] = 300 * layer_mebibyte;
    sizes["nvidia-driver"] = 900 * layer_mebibyte;
    sizes["initramfs"] = 8 * layer_mebibyte;
    sizes["less"] = 8 * layer_mebibyte - 1;
    const auto layers = placed(plan_layers(sizes));
    EXPECT_EQ(layers.at("kernel"), "kernel");
    EXPECT_EQ(layers.at("nvidia-driver"), "nvidia-driver");
    EXPECT_EQ(layers.at("initramfs"), "initramfs");
    EXPECT_TRUE(layers.at("less").starts_with("packages ")) << layers.at("less");
}

TEST(LayerPlan, OtherComponentsMoveNone) {
    ComponentSizes sizes = many(300, layer_mebibyte);
    sizes["kernel"] = 300 * layer_mebibyte;
    const auto before = placed(plan_layers(sizes));
    sizes["kernel"] = 400 * layer_mebibyte;
    sizes["package-7"] = 2 * layer_mebibyte;
    sizes["aaa-new"] = layer_mebibyte;
    sizes["nvidia-driver"] = 800 * layer_mebibyte;
    sizes.erase("package-100");
    const auto after = placed(plan_layers(sizes));
    for (const auto& [component, layer] : after) {
        if (before.contains(component)) {
            EXPECT_EQ(layer, before.at(component)) << component;
        }
    }
}

TEST(LayerPlan, AnEarlierImageKeepsComponentsThatGrewOrShrank) {
    ComponentSizes sizes = many(100, layer_mebibyte);
    sizes["grows"] = 7 * layer_mebibyte;
    sizes["shrinks"] = 9 * layer_mebibyte;
    const auto first = plan_layers(sizes);
    const auto before = placed(first);
    EXPECT_EQ(before.at("shrinks"), "shrinks");
    sizes["grows"] = 9 * layer_mebibyte;
    sizes["shrinks"] = 7 * layer_mebibyte;
    const auto forgotten = placed(plan_layers(sizes));
    EXPECT_EQ(forgotten.at("grows"), "grows");
    EXPECT_NE(forgotten.at("shrinks"), "shrinks");
    EXPECT_EQ(placed(plan_layers(sizes, as_earlier(first))), before);
}

TEST(LayerPlan, AnEarlierImageIsNotTrusted) {
    ComponentSizes sizes = many(100, layer_mebibyte);
    EarlierLayers earlier;
    for (const auto& [name, size] : sizes) {
        earlier[name] = {name};
    }
    earlier["packages 99"] = {"package-1", "gone"};
    earlier["odd"] = {"package-2", "package-3"};
    // More layers of their own than there may be: as without it.
    EXPECT_LE(plan_layers(sizes, earlier).size(), most_layers);
    EXPECT_EQ(placed(plan_layers(sizes, earlier)), placed(plan_layers(sizes)));
    ComponentSizes huge = many(100, 900 * layer_mebibyte);
    EXPECT_LE(plan_layers(huge, earlier).size(), most_layers);
}

}  // namespace
}  // namespace edgegpu
