#include "gpu_health/observe/cdi_text.hpp"

#include <memory>
#include <set>
#include <stdexcept>

#include <yaml.h>

namespace edgegpu::gpu_health {

namespace {

/// A document of libyaml's: aliases are the node that they name, so that reading it takes no more
/// room than its text.
class YamlDocument {
public:
    explicit YamlDocument(std::string_view text) {
        yaml_parser_t parser{};
        if (yaml_parser_initialize(&parser) == 0) {
            throw std::runtime_error("no memory for a YAML parser");
        }
        const std::unique_ptr<yaml_parser_t, void (*)(yaml_parser_t*)> end(&parser,
                                                                           yaml_parser_delete);
        yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(text.data()),
                                     text.size());
        if (yaml_parser_load(&parser, &document_) == 0) {
            const char* problem = parser.problem != nullptr ? parser.problem : "it is damaged";
            throw std::runtime_error("it is neither YAML nor JSON: line " +
                                     std::to_string(parser.problem_mark.line + 1) + ": " + problem);
        }
    }
    ~YamlDocument() { yaml_document_delete(&document_); }
    YamlDocument(const YamlDocument&) = delete;
    YamlDocument& operator=(const YamlDocument&) = delete;
    YamlDocument(YamlDocument&&) = delete;
    YamlDocument& operator=(YamlDocument&&) = delete;

    /// Null for an empty document.
    [[nodiscard]] yaml_node_t* top() { return yaml_document_get_root_node(&document_); }

    /// The value of a key; null if `node` is no mapping or lacks it.
    [[nodiscard]] yaml_node_t* find(const yaml_node_t* node, std::string_view key) {
        if (node == nullptr || node->type != YAML_MAPPING_NODE) {
            return nullptr;
        }
        const auto& pairs = node->data.mapping.pairs;
        for (const yaml_node_pair_t* pair = pairs.start; pair < pairs.top; ++pair) {
            if (text_in(yaml_document_get_node(&document_, pair->key)) == key) {
                return yaml_document_get_node(&document_, pair->value);
            }
        }
        return nullptr;
    }

    /// The elements; none if `node` is no sequence.
    [[nodiscard]] std::vector<yaml_node_t*> elements(const yaml_node_t* node) {
        std::vector<yaml_node_t*> found;
        if (node != nullptr && node->type == YAML_SEQUENCE_NODE) {
            const auto& items = node->data.sequence.items;
            for (const yaml_node_item_t* item = items.start; item < items.top; ++item) {
                found.push_back(yaml_document_get_node(&document_, *item));
            }
        }
        return found;
    }

    /// The text of a scalar; empty for anything else.
    [[nodiscard]] static std::string_view text_in(const yaml_node_t* node) {
        if (node == nullptr || node->type != YAML_SCALAR_NODE) {
            return {};
        }
        return {reinterpret_cast<const char*>(node->data.scalar.value), node->data.scalar.length};
    }

private:
    yaml_document_t document_{};
};

/// libyaml takes time with the square of the depth of brackets: a file of 100 kB would take longer
/// than the step has.
bool has_deep_brackets(std::string_view text) {
    constexpr int deepest = 1000;
    int depth = 0;
    for (const char letter : text) {
        if (letter == '[' || letter == '{') {
            ++depth;
        } else if (letter == ']' || letter == '}') {
            --depth;
        }
        if (depth > deepest) {
            return true;
        }
    }
    return false;
}

/// Collects paths of containerEdits. Aliases can name one list many times: each is read once.
class PathCollector {
public:
    explicit PathCollector(YamlDocument& document) : document_(document) {}

    void add_edits(const yaml_node_t* edits) {
        add_list(document_.find(edits, "mounts"), {"hostPath"});
        // hostPath is left out where it is the path in the container.
        add_list(document_.find(edits, "deviceNodes"), {"hostPath", "path"});
        add_list(document_.find(edits, "hooks"), {"path"});
    }

    [[nodiscard]] std::vector<std::string> paths() const { return {paths_.begin(), paths_.end()}; }

private:
    void add_list(const yaml_node_t* list, const std::vector<std::string_view>& keys) {
        if (list == nullptr || !seen_.insert(list).second) {
            return;
        }
        for (const yaml_node_t* element : document_.elements(list)) {
            for (const std::string_view key : keys) {
                const std::string_view path = YamlDocument::text_in(document_.find(element, key));
                if (!path.empty()) {
                    paths_.emplace(path);
                    break;
                }
            }
        }
    }

    YamlDocument& document_;
    std::set<const yaml_node_t*> seen_;
    std::set<std::string> paths_;
};

}  // namespace

CdiText read_cdi(std::string_view text) {
    if (has_deep_brackets(text)) {
        throw std::runtime_error("it is no CDI specification: it is nested too deeply");
    }
    YamlDocument document(text);
    const yaml_node_t* top = document.top();
    CdiText cdi;
    cdi.kind = YamlDocument::text_in(document.find(top, "kind"));
    if (cdi.kind.empty()) {
        throw std::runtime_error("it is no CDI specification: it has no kind");
    }
    PathCollector collector(document);
    collector.add_edits(document.find(top, "containerEdits"));
    for (const yaml_node_t* device : document.elements(document.find(top, "devices"))) {
        cdi.devices.emplace_back(YamlDocument::text_in(document.find(device, "name")));
        collector.add_edits(document.find(device, "containerEdits"));
    }
    if (cdi.devices.empty()) {
        throw std::runtime_error("it has no devices");
    }
    cdi.paths = collector.paths();
    return cdi;
}

}  // namespace edgegpu::gpu_health
