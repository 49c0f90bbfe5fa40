#include "bundles/checks/pods.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

namespace edgegpu {

namespace {

/// A step of a JSON pointer (RFC 6901).
std::string escaped(std::string_view key) {
    std::string step;
    for (const char c : key) {
        step += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
    }
    return step;
}

std::uint64_t times(const YamlNode& node, std::uint64_t count) {
    for (const std::string_view key : {"replicas", "parallelism"}) {
        const YamlNode* number = node.find({"spec", key});
        if (number == nullptr || number->kind != YamlNode::Kind::scalar) {
            continue;
        }
        const std::string& text = number->text;
        std::uint64_t value = 0;
        const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (code == std::errc{} && end == text.data() + text.size()) {
            count = value == 0 ? 0 : count * std::min<std::uint64_t>(value, 1'000'000);
        }
    }
    return count;
}

// NOLINTNEXTLINE(misc-no-recursion): YamlNode has at most 100 levels
void collect(const BundleObject& where, const YamlNode& node, const YamlNode* parent,
             const std::string& pointer, std::uint64_t count, std::vector<PodTemplate>& pods) {
    if (const YamlNode* containers = node.find("containers");
        containers != nullptr && containers->kind == YamlNode::Kind::sequence) {
        pods.push_back(
            {where, pointer, &node, parent != nullptr ? parent->find("metadata") : nullptr, count});
        return;
    }
    const std::uint64_t inner = times(node, count);
    for (std::size_t i = 0; i < node.items.size(); ++i) {
        const std::string step =
            node.kind == YamlNode::Kind::mapping ? escaped(node.keys[i]) : std::to_string(i);
        collect(where, node.items[i], &node, pointer + '/' + step, inner, pods);
    }
}

}  // namespace

std::vector<PodTemplate> pods_of(const std::vector<BundleObject>& objects) {
    std::vector<PodTemplate> pods;
    for (const BundleObject& each : objects) {
        collect(each, each.object->content, nullptr, "", 1, pods);
    }
    return pods;
}

std::vector<PodContainer> containers_of(const PodTemplate& pod) {
    static constexpr std::array<std::string_view, 3> lists{"initContainers", "containers",
                                                           "ephemeralContainers"};
    std::vector<PodContainer> containers;
    for (const std::string_view list : lists) {
        const YamlNode* items = pod.spec->find(list);
        if (items == nullptr || items->kind != YamlNode::Kind::sequence) {
            continue;
        }
        for (std::size_t i = 0; i < items->items.size(); ++i) {
            containers.push_back({std::string(list), fmt::format("{}/{}/{}", pod.pointer, list, i),
                                  &items->items[i]});
        }
    }
    return containers;
}

}  // namespace edgegpu
