#include "bundles/objects.hpp"

#include <cstddef>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "bundles/json_value.hpp"
#include "support/error.hpp"
#include "yaml/yaml_json.hpp"

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

KubeObject read_object(const std::string& title, std::size_t number, nlohmann::json content,
                       std::string_view text) {
    KubeObject object;
    object.api_version = text_in(content, {"apiVersion"});
    object.kind = text_in(content, {"kind"});
    object.name = text_in(content, {"metadata", "name"});
    object.name_space = text_in(content, {"metadata", "namespace"});
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

}  // namespace

std::string KubeObject::title() const {
    return name_space.empty() ? fmt::format("{} {}", kind, name)
                              : fmt::format("{} {}/{}", kind, name_space, name);
}

std::vector<KubeObject> read_objects(const std::string& title, std::string_view rendered) {
    std::vector<KubeObject> objects;
    std::set<std::tuple<std::string, std::string, std::string, std::string>> seen;
    for (const std::string_view text : documents_of(rendered)) {
        for (const YamlNode& content : read_yaml(title, text)) {
            KubeObject object = read_object(title, objects.size() + 1, json_of(content), text);
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

}  // namespace edgegpu
