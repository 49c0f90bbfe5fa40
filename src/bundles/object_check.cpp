#include "bundles/object_check.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "blueprint/toml/mistakes.hpp"
#include "bundles/schema/kubernetes_schemas.hpp"
#include "bundles/yaml_json.hpp"
#include "support/error.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

namespace {

bool is_manifest(std::string_view file) {
    return file.ends_with(".yaml") || file.ends_with(".yml") || file.ends_with(".json");
}

bool describes(const YamlNode& document, const KubeObject& object) {
    return document.text_at({"kind"}) == object.kind &&
           document.text_at({"apiVersion"}) == object.api_version &&
           document.text_at({"metadata", "name"}) == object.name;
}

/// The key that a step of a JSON pointer stands for (RFC 6901).
std::string unescaped(std::string_view step) {
    std::string key;
    for (std::size_t i = 0; i < step.size(); ++i) {
        const bool escape = step[i] == '~' && i + 1 < step.size();
        key += !escape ? step[i] : step[++i] == '1' ? '/' : '~';
    }
    return key;
}

const YamlNode* child(const YamlNode& node, const std::string& key) {
    if (node.kind != YamlNode::Kind::sequence) {
        return node.find(key);
    }
    std::size_t index = 0;
    const auto [end, code] = std::from_chars(key.data(), key.data() + key.size(), index);
    return code == std::errc() && index < node.items.size() ? &node.items[index] : nullptr;
}

/// What a JSON pointer leads to, as far as the document has it.
const YamlNode& followed(const YamlNode& document, std::string_view pointer) {
    const YamlNode* node = &document;
    while (pointer.starts_with('/')) {
        pointer.remove_prefix(1);
        const std::size_t end = std::min(pointer.find('/'), pointer.size());
        const YamlNode* next = child(*node, unescaped(pointer.substr(0, end)));
        if (next == nullptr) {
            break;
        }
        node = next;
        pointer.remove_prefix(end);
    }
    return *node;
}

/// The bundle's own document of a rendered object, and its file.
struct SourceDocument {
    std::string file;
    YamlNode document;
};

std::optional<SourceDocument> source_of_object(const BundleFiles& files, const KubeObject& object) {
    for (const auto& [file, content] : files.files) {
        if (!is_manifest(file) || content.find(object.name) == std::string::npos) {
            continue;
        }
        try {
            for (YamlNode& document : read_yaml(file, content)) {
                if (describes(document, object)) {
                    return SourceDocument{file, std::move(document)};
                }
            }
        } catch (const Error&) {
            // kustomize did not need this file, or it would have refused it.
            continue;
        }
    }
    return std::nullopt;
}

void check_object(const RenderedBundle& bundle, const KubeObject& object,
                  KubernetesSchemas& schemas, const std::string& api, Mistakes& mistakes) {
    const SchemaCheck result = schemas.check(json_of(object.content));
    if (result.problems.empty()) {
        return;
    }
    const std::optional<SourceDocument> source = source_of_object(bundle.files, object);
    for (const SchemaProblem& problem : result.problems) {
        const std::string text = fmt::format("{}: {}", object.title(), problem.message);
        if (source) {
            const YamlNode& node = followed(source->document, problem.pointer);
            const SourceLocation place{bundle.files.path_of(source->file), node.line, node.column};
            mistakes.add(bundle.files.in_bundle(error_at(place, "{}", text)).hinted(api));
        } else {
            mistakes.add(error(ErrorKind::usage, "{}: {}", bundle.files.title(), text).hinted(api));
        }
    }
}

}  // namespace

KubernetesVersion kubernetes_for(std::string_view microshift) {
    const KubernetesRange range = KubernetesSchemas::shipped_versions();
    const KubernetesVersion wanted = kubernetes_of_microshift(microshift).value_or(range.last);
    return {std::clamp(wanted.minor, range.first.minor, range.last.minor)};
}

void check_objects(const std::vector<RenderedBundle>& bundles, KubernetesVersion version) {
    if (bundles.empty()) {
        return;
    }
    KubernetesSchemas schemas(version);
    const std::string api = fmt::format(
        "Kubernetes {} refuses it, and MicroShift then holds up this bundle "
        "and all after it for ten minutes: change the manifest, or patch it in the "
        "kustomization",
        version.text());
    Mistakes mistakes;
    for (const RenderedBundle& bundle : bundles) {
        for (const KubeObject& object : bundle.objects) {
            check_object(bundle, object, schemas, api, mistakes);
        }
    }
    mistakes.throw_any(bundles.front().files.location.file);
}

}  // namespace edgegpu
