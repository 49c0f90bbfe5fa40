#include "bundles/privileges/known_programs.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "bundles/json_value.hpp"
#include "bundles/pods.hpp"
#include "oci/reference.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

/// A program and a right that it needs.
struct Need {
    std::string_view program;
    std::string_view group;
    std::string_view resource;
    /// separated by commas
    std::string_view verbs;
    /// in the pod's namespace; else in all, or the resource has none
    bool own_namespace = false;
};

constexpr std::string_view nfd = "nfd.k8s-sigs.io";

constexpr std::array<Need, 13> needs{
    {{"config-manager", "", "nodes", "list,watch", false},
     {"gpu-feature-discovery", nfd, "nodefeatures", "get,create,update", true},
     {"nfd-worker", nfd, "nodefeatures", "get,create,update", true},
     {"nfd-master", nfd, "nodefeatures", "list,watch", false},
     {"nfd-master", nfd, "nodefeaturerules", "list,watch", false},
     {"nfd-master", "", "nodes", "get,patch", false},
     {"nfd-gc", nfd, "nodefeatures", "list,delete", false},
     {"nfd-gc", "", "nodes", "list,watch", false},
     {"nfd-topology-updater", "topology.node.k8s.io", "noderesourcetopologies", "create", false},
     {"gpu-operator", "nvidia.com", "clusterpolicies", "list,watch", false},
     {"gpu-operator", "", "nodes", "list,watch", false},
     {"gpu-operator", "apps", "daemonsets", "create", true},
     {"gpu-operator", "", "serviceaccounts", "create", true}}};

/// The programs of an image; the first is its entry point, none if that is unknown.
struct ImagePrograms {
    std::string_view image;
    std::string_view entry_point;
};

constexpr std::array<ImagePrograms, 6> images{{{"k8s-device-plugin", "nvidia-device-plugin"},
                                               {"gpu-feature-discovery", "gpu-feature-discovery"},
                                               {"node-feature-discovery", ""},
                                               {"node-feature-discovery-minimal", ""},
                                               {"dcgm-exporter", "dcgm-exporter"},
                                               {"gpu-operator", "gpu-operator"}}};

/// "node-feature-discovery" of "registry.k8s.io/nfd/node-feature-discovery:v0.19.0@sha256:…"
std::string_view name_of_image(std::string_view image) {
    image = parts_of_image_name(image).repository;
    return image.substr(image.rfind('/') + 1);
}

std::string_view file_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

/// The command line, arguments included, and "NAME=VALUE" of the environment.
struct Started {
    std::string_view program;
    std::vector<std::string> words;
    std::vector<std::string> environment;

    /// The value of "--option VALUE", "-option=VALUE" or of a variable; nothing if neither is
    /// there. "true" for an option without value.
    [[nodiscard]] std::optional<std::string> value(std::string_view option,
                                                   std::string_view variable) const;
    [[nodiscard]] bool mentions(std::string_view text) const;
};

std::optional<std::string> Started::value(std::string_view option,
                                          std::string_view variable) const {
    for (std::size_t i = 0; i < words.size(); ++i) {
        std::string_view word = words[i];
        if (!word.starts_with('-')) {
            continue;
        }
        word.remove_prefix(word.starts_with("--") ? 2 : 1);
        if (word == option) {
            const bool next = i + 1 < words.size() && !words[i + 1].starts_with('-');
            return next ? words[i + 1] : "true";
        }
        if (word.starts_with(option) && word.substr(option.size()).starts_with('=')) {
            return std::string(word.substr(option.size() + 1));
        }
    }
    for (const std::string& each : environment) {
        if (!variable.empty() && each.starts_with(fmt::format("{}=", variable))) {
            return each.substr(variable.size() + 1);
        }
    }
    return std::nullopt;
}

bool Started::mentions(std::string_view text) const {
    const auto has = [&](const std::string& each) { return each.find(text) != std::string::npos; };
    return std::ranges::any_of(words, has) || std::ranges::any_of(environment, has);
}

Started started_by(const json& container) {
    Started started;
    const std::string image = text_in(container, {"image"});
    const auto known = std::ranges::find(images, name_of_image(image), &ImagePrograms::image);
    if (known == images.end()) {
        return started;
    }
    started.words = texts_at(container, {"command"});
    const std::string_view program =
        started.words.empty() ? known->entry_point : file_name(started.words.front());
    const auto need = std::ranges::find(needs, program, &Need::program);
    started.program = need != needs.end()          ? need->program
                      : program == "dcgm-exporter" ? "dcgm-exporter"
                                                   : "";
    for (const std::string& word : texts_at(container, {"args"})) {
        started.words.push_back(word);
    }
    for (const json& variable : items_at(container, {"env"})) {
        started.environment.push_back(
            fmt::format("{}={}", text_in(variable, {"name"}), text_in(variable, {"value"})));
    }
    return started;
}

bool is_true_text(const std::optional<std::string>& text) {
    return text && (*text == "true" || *text == "1" || *text == "TRUE" || *text == "t");
}

bool is_false_text(const std::optional<std::string>& text) {
    return text && !text->empty() && !is_true_text(text);
}

/// It is told not to write to, or not to ask the API server.
bool needs_nothing(const Started& started) {
    if (started.mentions("kubeconfig") || started.mentions("KUBECONFIG") ||
        started.mentions("NodeFeatureAPI=false") ||
        is_false_text(started.value("enable-nodefeature-api", ""))) {
        return true;
    }
    if (started.program == "gpu-feature-discovery") {
        // Older versions wrote a file unless they were asked for more.
        std::optional<std::string> asked =
            started.value("use-node-feature-api", "GFD_USE_NODE_FEATURE_API");
        asked = asked ? asked : started.value("use-node-feature-api", "USE_NODE_FEATURE_API");
        return !is_true_text(asked);
    }
    return is_true_text(started.value("no-publish", "")) ||
           is_true_text(started.value("prune", "")) || started.mentions("version");
}

void add_dcgm_needs(const Started& started, std::vector<ApiRequest>& requests) {
    if (is_true_text(started.value("kubernetes-enable-pod-labels",
                                   "DCGM_EXPORTER_KUBERNETES_ENABLE_POD_LABELS")) ||
        is_true_text(started.value("kubernetes-enable-pod-uid",
                                   "DCGM_EXPORTER_KUBERNETES_ENABLE_POD_UID"))) {
        requests.push_back({"", "pods", "list", "", ""});
        requests.push_back({"", "pods", "watch", "", ""});
    }
    const std::optional<std::string> map =
        started.value("configmap-data", "DCGM_EXPORTER_CONFIGMAP_DATA");
    const std::size_t colon = map ? map->find(':') : std::string::npos;
    if (colon != std::string::npos && map->find('$') == std::string::npos) {
        requests.push_back(
            {"", "configmaps", "get", map->substr(colon + 1), map->substr(0, colon)});
    }
}

}  // namespace

KnownNeeds needs_of(const json& container, const std::string& name_space) {
    const Started started = started_by(container);
    KnownNeeds known{std::string(started.program), {}};
    if (started.program.empty() || needs_nothing(started)) {
        return known;
    }
    if (started.program == "dcgm-exporter") {
        add_dcgm_needs(started, known.requests);
        return known;
    }
    for (const Need& need : needs) {
        if (need.program != started.program) {
            continue;
        }
        for (const std::string_view verb : split(need.verbs, ',')) {
            known.requests.push_back({std::string(need.group), std::string(need.resource),
                                      std::string(verb), "", need.own_namespace ? name_space : ""});
        }
    }
    return known;
}

}  // namespace edgegpu
