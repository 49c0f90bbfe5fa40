#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace edgegpu {

/// A Kubernetes object of a rendered bundle.
struct KubeObject {
    /// "apps/v1"
    std::string api_version;
    std::string kind;
    /// empty: none is set
    std::string name_space;
    std::string name;
    /// Its YAML as it was rendered, ends with a newline.
    std::string text;
    /// the same as Kubernetes reads it
    nlohmann::json content;

    /// "DaemonSet nvidia-device-plugin/nvidia-device-plugin", "Namespace x"
    [[nodiscard]] std::string title() const;
};

/// Reads what kustomize prints: objects, with "---" between them. `title` begins messages. Throws
/// ErrorKind::usage for what is not YAML, objects without apiVersion, kind or name, two with the
/// same of all these in one namespace, and if there is none.
[[nodiscard]] std::vector<KubeObject> read_objects(const std::string& title,
                                                   std::string_view rendered);

}  // namespace edgegpu
