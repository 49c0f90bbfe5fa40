#include "bundles/checks/findings.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "support/error.hpp"
#include "support/source_location.hpp"
#include "support/text/number.hpp"

namespace edgegpu {

namespace {

bool is_manifest(std::string_view file) {
    return file.ends_with(".yaml") || file.ends_with(".yml") || file.ends_with(".json");
}

/// Whether `object` can have come from the document. A kustomization may have changed its
/// namespace.
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
    const auto index = whole_number<std::size_t>(key);
    return index && *index < node.items.size() ? &node.items[*index] : nullptr;
}

/// What a JSON pointer leads to, as far as the document has it.
struct Followed {
    const YamlNode* node = nullptr;
    /// how many of the pointer's steps the document has
    unsigned steps = 0;
};

Followed followed(const YamlNode& document, std::string_view pointer) {
    Followed result{&document, 0};
    while (pointer.starts_with('/')) {
        pointer.remove_prefix(1);
        const std::size_t end = std::min(pointer.find('/'), pointer.size());
        const YamlNode* next = child(*result.node, unescaped(pointer.substr(0, end)));
        if (next == nullptr) {
            break;
        }
        result = {next, result.steps + 1};
        pointer.remove_prefix(end);
    }
    return result;
}

}  // namespace

const std::vector<YamlNode>& Findings::documents_of(const BundleFiles& files,
                                                    const std::string& file) {
    const std::string key = files.name + '/' + file;
    const auto known = documents_.find(key);
    if (known != documents_.end()) {
        return known->second;
    }
    std::vector<YamlNode>& documents = documents_[key];
    try {
        documents = read_yaml(file, files.files.at(file));
    } catch (const Error&) {
        // kustomize did not need this file, or it would have refused it.
        documents.clear();
    }
    return documents;
}

void Findings::add(const BundleObject& where, std::string_view pointer, const std::string& message,
                   const std::string& hint) {
    const BundleFiles& files = where.bundle->files;
    const KubeObject& object = *where.object;
    const std::string text = fmt::format("{}: {}", object.title(), message);
    std::optional<SourceLocation> place;
    // Of several documents the one in the object's own namespace, and then the one that has most of
    // the pointer.
    std::pair<bool, unsigned> best;
    for (const auto& [file, content] : files.files) {
        if (!is_manifest(file) || content.find(object.name) == std::string::npos) {
            continue;
        }
        for (const YamlNode& document : documents_of(files, file)) {
            if (!describes(document, object)) {
                continue;
            }
            const Followed found = followed(document, pointer);
            const std::pair rank{document.text_at({"metadata", "namespace"}) == object.name_space,
                                 found.steps};
            if (!place || rank > best) {
                place = files.place_of(file, found.node->line, found.node->column);
                best = rank;
            }
        }
    }
    if (place) {
        mistakes_.add(files.in_bundle(error_at(*place, "{}", text)).hinted(hint));
        return;
    }
    mistakes_.add(error(ErrorKind::usage, "{}: {}", files.title(), text).hinted(hint));
}

}  // namespace edgegpu
