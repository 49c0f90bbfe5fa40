#include "bundles/objects.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <limits>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "support/error.hpp"
#include "support/text.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view separator = "---\n";

/// The documents of kustomize's output, each with its newline.
std::vector<std::string_view> documents_of(std::string_view rendered) {
    std::vector<std::string_view> documents;
    std::size_t begin = 0;
    for (std::size_t at = 0; at < rendered.size();) {
        const std::size_t newline = rendered.find('\n', at);
        const std::size_t next = newline == std::string_view::npos ? rendered.size() : newline + 1;
        if (rendered.substr(at, next - at) == separator) {
            documents.push_back(rendered.substr(begin, at - begin));
            begin = next;
        }
        at = next;
    }
    documents.push_back(rendered.substr(begin));
    return documents;
}

KubeObject read_object(const std::string& title, std::size_t number, YamlNode content,
                       std::string_view text) {
    KubeObject object;
    object.api_version = content.text_at({"apiVersion"});
    object.kind = content.text_at({"kind"});
    object.name = content.text_at({"metadata", "name"});
    object.name_space = content.text_at({"metadata", "namespace"});
    for (const auto& [key, value] :
         {std::pair<const char*, const std::string&>{"apiVersion", object.api_version},
          {"kind", object.kind},
          {"metadata.name", object.name}}) {
        if (value.empty()) {
            throw error(ErrorKind::usage, "{}: object {}{} has no {}", title, number,
                        object.kind.empty() ? "" : ", a " + object.kind + ',', key)
                .hinted(
                    "MicroShift cannot apply it: every file of \"resources\" has to consist of "
                    "Kubernetes objects");
        }
    }
    object.text = text;
    object.content = std::move(content);
    return object;
}

/// Calls `visit` with each pod's specification, and how many such pods there are.
template <typename Visit>
// NOLINTNEXTLINE(misc-no-recursion): YamlNode has at most 100 levels
void visit_pods(const YamlNode& node, std::uint64_t count, const Visit& visit) {
    for (const std::string_view key : {"replicas", "parallelism"}) {
        const YamlNode* number = node.find({"spec", key});
        if (number != nullptr && number->kind == YamlNode::Kind::scalar) {
            std::uint64_t value = 0;
            const std::string& text = number->text;
            const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
            if (code == std::errc{} && end == text.data() + text.size()) {
                count = value == 0 ? 0 : count * std::min<std::uint64_t>(value, 1'000'000);
            }
        }
    }
    if (node.find("containers") != nullptr) {
        visit(node, count);
        return;
    }
    for (const YamlNode& item : node.items) {
        visit_pods(item, count, visit);
    }
}

constexpr std::array<std::string_view, 3> container_lists{"containers", "initContainers",
                                                          "ephemeralContainers"};

/// The limits of a container for resources with a domain in their name, added to `wanted`.
void add_limits(const YamlNode& container, std::map<std::string, std::uint64_t>& wanted) {
    const YamlNode* limits = container.find({"resources", "limits"});
    if (limits == nullptr) {
        return;
    }
    for (std::size_t i = 0; i < limits->keys.size(); ++i) {
        const std::string& text = limits->items[i].text;
        std::uint64_t value = 0;
        if (limits->keys[i].find('/') != std::string::npos) {
            std::from_chars(text.data(), text.data() + text.size(), value);
            wanted[limits->keys[i]] += std::min<std::uint64_t>(value, 1'000'000);
        }
    }
}

}  // namespace

std::string KubeObject::title() const {
    return name_space.empty() ? fmt::format("{} {}", kind, name)
                              : fmt::format("{} {}/{}", kind, name_space, name);
}

std::vector<KubeObject> read_objects(const std::string& title, std::string_view rendered) {
    std::vector<KubeObject> objects;
    std::set<std::tuple<std::string, std::string, std::string, std::string>> seen;
    for (const std::string_view text : documents_of(rendered)) {
        for (YamlNode& content : read_yaml(title, text)) {
            KubeObject object = read_object(title, objects.size() + 1, std::move(content), text);
            // The version of an API does not distinguish objects.
            const std::string group =
                object.api_version.substr(0, object.api_version.find('/') + 1);
            if (!seen.emplace(group, object.kind, object.name_space, object.name).second) {
                throw error(ErrorKind::usage, "{}: {} is there twice", title, object.title())
                    .hinted("rename one of them, or remove the file that brings it again");
            }
            objects.push_back(std::move(object));
        }
    }
    if (objects.empty()) {
        throw error(ErrorKind::usage, "{}: no object comes out of it", title)
            .hinted("list the manifests under \"resources:\" in kustomization.yaml");
    }
    return objects;
}

std::vector<std::string> images_of(const std::vector<KubeObject>& objects) {
    std::set<std::string> images;
    const auto add = [&](const YamlNode* list, std::initializer_list<std::string_view> path) {
        for (const YamlNode& item : list != nullptr ? list->items : std::vector<YamlNode>{}) {
            if (std::string image = item.text_at(path); !image.empty()) {
                images.insert(std::move(image));
            }
        }
    };
    for (const KubeObject& object : objects) {
        visit_pods(object.content, 1, [&](const YamlNode& pod, std::uint64_t) {
            for (const std::string_view list : container_lists) {
                add(pod.find(list), {"image"});
            }
            add(pod.find("volumes"), {"image", "reference"});
        });
    }
    return {images.begin(), images.end()};
}

std::map<std::string, std::uint64_t> extended_resources_of(const std::vector<KubeObject>& objects) {
    std::map<std::string, std::uint64_t> wanted;
    for (const KubeObject& object : objects) {
        visit_pods(object.content, 1, [&](const YamlNode& pod, std::uint64_t count) {
            std::map<std::string, std::uint64_t> of_pod;
            for (const YamlNode& container : pod.find("containers")->items) {
                add_limits(container, of_pod);
            }
            // Init containers run one after the other, before these.
            const YamlNode* first = pod.find("initContainers");
            for (const YamlNode& container :
                 first != nullptr ? first->items : std::vector<YamlNode>{}) {
                std::map<std::string, std::uint64_t> of_container;
                add_limits(container, of_container);
                for (const auto& [resource, value] : of_container) {
                    of_pod[resource] = std::max(of_pod[resource], value);
                }
            }
            for (const auto& [resource, value] : of_pod) {
                wanted[resource] += value * count;
            }
        });
    }
    std::erase_if(wanted, [](const auto& each) { return each.second == 0; });
    return wanted;
}

}  // namespace edgegpu
