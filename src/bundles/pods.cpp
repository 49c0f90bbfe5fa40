#include "bundles/pods.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "support/ranges.hpp"
#include "support/text/number.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

std::uint64_t times(const json& node, std::uint64_t count) {
    for (const std::string_view key : {"replicas", "parallelism"}) {
        const std::string number = text_in(node, {"spec", key});
        if (const auto value = whole_number<std::uint64_t>(number)) {
            count = *value == 0 ? 0 : count * std::min<std::uint64_t>(*value, 1'000'000);
        }
    }
    return count;
}

// NOLINTNEXTLINE(misc-no-recursion): YAML has at most 100 levels
void collect(const BundleObject& where, const json& node, const json& parent,
             const std::string& pointer, std::uint64_t count, std::vector<PodTemplate>& pods) {
    if (value_at(node, {"containers"}).is_array()) {
        pods.push_back({where, pointer, &node, &value_at(parent, {"metadata"}), count});
        return;
    }
    const std::uint64_t inner = times(node, count);
    for (const auto& [key, item] : entries_at(node, {})) {
        collect(where, item, node, pointer + '/' + pointer_step(key), inner, pods);
    }
    const std::vector<json>& items = items_at(node, {});
    for (std::size_t i = 0; i < items.size(); ++i) {
        collect(where, items[i], node, pointer + '/' + std::to_string(i), inner, pods);
    }
}

std::vector<PodContainer> containers_in(const json& spec, const std::string& pointer) {
    std::vector<PodContainer> containers;
    for (const char* list : {"initContainers", "containers", "ephemeralContainers"}) {
        std::size_t index = 0;
        for (const json& item : items_at(spec, {list})) {
            containers.push_back({list, fmt::format("{}/{}/{}", pointer, list, index++), &item});
        }
    }
    return containers;
}

using Amounts = std::map<std::string, std::uint64_t>;

constexpr std::uint64_t most_wanted = 1'000'000;

/// The limits of a container for extended resources, which have a domain in their name.
Amounts limits_of(const json& container) {
    Amounts amounts;
    for (const auto& [resource, amount] : entries_at(container, {"resources", "limits"})) {
        if (resource.find('/') != std::string::npos) {
            amounts[resource] = whole_quantity(text_of(amount)).value_or(0);
        }
    }
    return amounts;
}

void add_amounts(Amounts& sum, const Amounts& more) {
    for (const auto& [resource, amount] : more) {
        sum[resource] += amount;
    }
}

void raise_amounts(Amounts& most, const Amounts& others) {
    for (const auto& [resource, amount] : others) {
        most[resource] = std::max(most[resource], amount);
    }
}

/// The factor that a suffix of a quantity stands for.
std::optional<double> factor_of(std::string_view suffix) {
    static constexpr auto factors =
        std::to_array<std::pair<std::string_view, double>>({{"", 1},
                                                            {"n", 1e-9},
                                                            {"u", 1e-6},
                                                            {"m", 1e-3},
                                                            {"k", 1e3},
                                                            {"M", 1e6},
                                                            {"G", 1e9},
                                                            {"T", 1e12},
                                                            {"P", 1e15},
                                                            {"E", 1e18},
                                                            {"Ki", 0x1p10},
                                                            {"Mi", 0x1p20},
                                                            {"Gi", 0x1p30},
                                                            {"Ti", 0x1p40},
                                                            {"Pi", 0x1p50},
                                                            {"Ei", 0x1p60}});
    for (const auto& [name, factor] : factors) {
        if (name == suffix) {
            return factor;
        }
    }
    return std::nullopt;
}

}  // namespace

std::string pointer_step(std::string_view key) {
    return sum_of(key, [](char c) {
        return c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
    });
}

bool is_workload(const KubeObject& object) {
    static constexpr auto kinds = std::to_array<std::pair<std::string_view, std::string_view>>(
        {{"v1", "Pod"},
         {"v1", "PodTemplate"},
         {"v1", "ReplicationController"},
         {"apps/", "DaemonSet"},
         {"apps/", "Deployment"},
         {"apps/", "ReplicaSet"},
         {"apps/", "StatefulSet"},
         {"batch/", "CronJob"},
         {"batch/", "Job"}});
    return std::ranges::any_of(kinds, [&](const auto& each) {
        const std::string& version = object.api_version;
        return object.kind == each.second &&
               (version == each.first || (each.first != "v1" && version.starts_with(each.first)));
    });
}

std::vector<PodTemplate> pods_of(const std::vector<BundleObject>& objects) {
    std::vector<PodTemplate> pods;
    for (const BundleObject& each : objects) {
        collect(each, each.object->content, {}, "", 1, pods);
    }
    return pods;
}

std::vector<PodContainer> containers_of(const PodTemplate& pod) {
    return containers_in(*pod.spec, pod.pointer);
}

std::vector<PodContainer> containers_of(const json& pod) {
    return containers_in(value_at(pod, {"spec"}), "/spec");
}

std::vector<PodTemplate> pods_of(const std::vector<KubeObject>& objects) {
    const std::vector<BundleObject> all = mapped(objects, [](const KubeObject& object) {
        return BundleObject{nullptr, &object};
    });
    return pods_of(all);
}

std::vector<std::string> sources_of_volume(const json& volume) {
    std::vector<std::string> sources;
    if (volume.is_object()) {
        for (const auto& [key, value] : volume.items()) {
            if (key != "name" && !value.is_null()) {
                sources.push_back(key);
            }
        }
    }
    return sources;
}

std::vector<PodImage> images_of(const PodTemplate& pod) {
    std::vector<PodImage> images;
    for (const PodContainer& container : containers_of(pod)) {
        if (std::string name = text_in(*container.content, {"image"}); !name.empty()) {
            images.push_back({container.pointer + "/image", std::move(name), container.content});
        }
    }
    const std::vector<json>& volumes = items_at(*pod.spec, {"volumes"});
    for (std::size_t i = 0; i < volumes.size(); ++i) {
        if (std::string name = text_in(volumes[i], {"image", "reference"}); !name.empty()) {
            images.push_back({fmt::format("{}/volumes/{}/image/reference", pod.pointer, i),
                              std::move(name), nullptr});
        }
    }
    return images;
}

std::vector<std::string> images_of(const std::vector<KubeObject>& objects) {
    std::set<std::string> names;
    for (const PodTemplate& pod : pods_of(objects)) {
        for (PodImage& image : images_of(pod)) {
            names.insert(std::move(image.name));
        }
    }
    return {names.begin(), names.end()};
}

std::optional<std::uint64_t> whole_quantity(std::string_view text) {
    if (text.starts_with('+')) {
        text.remove_prefix(1);
    }
    if (text.empty() || ((text[0] < '0' || text[0] > '9') && text[0] != '.')) {
        return std::nullopt;
    }
    double value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    const std::optional<double> factor =
        factor_of(text.substr(static_cast<std::size_t>(end - text.data())));
    if (code != std::errc{} || !factor) {
        return std::nullopt;
    }
    value *= *factor;
    const double whole = std::nearbyint(value);
    if (value < most_wanted && std::abs(value - whole) > 1e-6) {
        return std::nullopt;
    }
    return static_cast<std::uint64_t>(std::min<double>(whole, most_wanted));
}

std::map<std::string, std::uint64_t> extended_resources_of(const PodTemplate& pod) {
    Amounts together;
    Amounts sidecars;
    Amounts most;
    for (const PodContainer& container : containers_of(pod)) {
        const Amounts own = limits_of(*container.content);
        if (container.list == "containers") {
            add_amounts(together, own);
        } else if (text_in(*container.content, {"restartPolicy"}) == "Always") {
            add_amounts(sidecars, own);
            raise_amounts(most, sidecars);
        } else {
            Amounts beside = sidecars;
            add_amounts(beside, own);
            raise_amounts(most, beside);
        }
    }
    add_amounts(together, sidecars);
    raise_amounts(most, together);
    std::erase_if(most, [](const auto& each) { return each.second == 0; });
    return most;
}

std::map<std::string, std::uint64_t> extended_resources_of(const std::vector<KubeObject>& objects) {
    Amounts wanted;
    for (const PodTemplate& pod : pods_of(objects)) {
        for (const auto& [resource, amount] : extended_resources_of(pod)) {
            wanted[resource] += amount * pod.count;
        }
    }
    std::erase_if(wanted, [](const auto& each) { return each.second == 0; });
    return wanted;
}

}  // namespace edgegpu
