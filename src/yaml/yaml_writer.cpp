#include "yaml/yaml_writer.hpp"

#include <yaml.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>

#include "support/error.hpp"
#include "support/text/text.hpp"
#include "yaml/yaml_json.hpp"

namespace edgegpu {

namespace {

constexpr int indentation = 2;
constexpr int lines_of_any_width = -1;
constexpr std::size_t longest_plain_key = 128;

/// libyaml's emitter, writing to a string.
class YamlEmitter {
public:
    YamlEmitter() {
        if (yaml_emitter_initialize(&emitter_) == 0) {
            throw errno_error("yaml_emitter_initialize", ENOMEM);
        }
        yaml_emitter_set_output(&emitter_, append, &text_);
        yaml_emitter_set_indent(&emitter_, indentation);
        yaml_emitter_set_width(&emitter_, lines_of_any_width);
        yaml_emitter_set_unicode(&emitter_, 1);
    }
    ~YamlEmitter() { yaml_emitter_delete(&emitter_); }
    YamlEmitter(const YamlEmitter&) = delete;
    YamlEmitter& operator=(const YamlEmitter&) = delete;

    std::string document(const YamlNode& root) {
        yaml_event_t event;
        emit(event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
        emit(event, yaml_document_start_event_initialize(&event, nullptr, nullptr, nullptr, 1));
        node(root);
        emit(event, yaml_document_end_event_initialize(&event, 1));
        emit(event, yaml_stream_end_event_initialize(&event));
        return std::move(text_);
    }

private:
    static int append(void* target, unsigned char* bytes, std::size_t size) noexcept {
        try {
            static_cast<std::string*>(target)->append(reinterpret_cast<const char*>(bytes), size);
            return 1;
        } catch (...) {
            return 0;
        }
    }

    /// The emitter frees the event.
    void emit(yaml_event_t& event, int made) {
        if (made == 0 || yaml_emitter_emit(&emitter_, &event) == 0) {
            throw error("cannot write YAML: {}", emitter_.problem == nullptr
                                                     ? "text that is not UTF-8"
                                                     : text_of(emitter_.problem));
        }
    }

    void scalar(const std::string& text, bool quoted) {
        yaml_event_t event;
        const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
        emit(event,
             yaml_scalar_event_initialize(
                 &event, nullptr, nullptr, bytes, static_cast<int>(text.size()), quoted ? 0 : 1, 1,
                 quoted ? YAML_DOUBLE_QUOTED_SCALAR_STYLE : YAML_PLAIN_SCALAR_STYLE));
    }

    /// Letters, digits and what names of Kubernetes have, and nothing that YAML 1.1 gives a
    /// meaning.
    static bool is_plain_key(const std::string& key) {
        constexpr auto single = std::to_array<std::string_view>({"y", "Y", "n", "N"});
        const auto is_letter = [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        };
        return !key.empty() && key.size() <= longest_plain_key && is_letter(key.front()) &&
               std::ranges::find(single, key) == single.end() &&
               std::ranges::all_of(key,
                                   [&](char c) {
                                       return is_letter(c) || (c >= '0' && c <= '9') ||
                                              std::string_view("-_./").find(c) !=
                                                  std::string_view::npos;
                                   }) &&
               json_of(yaml_plain(key)).is_string();
    }

    // NOLINTNEXTLINE(misc-no-recursion): as deep as the value
    void node(const YamlNode& value) {
        yaml_event_t event;
        switch (value.kind) {
            case YamlNode::Kind::scalar:
                scalar(value.text, value.quoted);
                return;
            case YamlNode::Kind::sequence:
                emit(event, yaml_sequence_start_event_initialize(&event, nullptr, nullptr, 1,
                                                                 YAML_BLOCK_SEQUENCE_STYLE));
                for (const YamlNode& item : value.items) {
                    node(item);
                }
                emit(event, yaml_sequence_end_event_initialize(&event));
                return;
            case YamlNode::Kind::mapping:
                emit(event, yaml_mapping_start_event_initialize(&event, nullptr, nullptr, 1,
                                                                YAML_BLOCK_MAPPING_STYLE));
                for (std::size_t i = 0; i < value.keys.size(); ++i) {
                    scalar(value.keys[i], !is_plain_key(value.keys[i]));
                    node(value.items[i]);
                }
                emit(event, yaml_mapping_end_event_initialize(&event));
                return;
        }
    }

    std::string text_;
    yaml_emitter_t emitter_{};
};

}  // namespace

YamlNode yaml_string(std::string_view text) {
    YamlNode node;
    node.text = text;
    node.quoted = true;
    return node;
}

YamlNode yaml_plain(std::string_view text) {
    YamlNode node;
    node.text = text;
    return node;
}

YamlNode yaml_list(std::vector<YamlNode> items) {
    YamlNode node;
    node.kind = YamlNode::Kind::sequence;
    node.items = std::move(items);
    return node;
}

YamlNode yaml_map(const std::vector<std::pair<std::string, YamlNode>>& entries) {
    YamlNode node;
    node.kind = YamlNode::Kind::mapping;
    for (const auto& [key, value] : entries) {
        add_key(node, key, value);
    }
    return node;
}

void add_key(YamlNode& mapping, std::string key, YamlNode value) {
    mapping.keys.push_back(std::move(key));
    mapping.items.push_back(std::move(value));
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the value
YamlNode yaml_of(const nlohmann::json& value) {
    if (value.is_object()) {
        YamlNode mapping = yaml_map();
        for (const auto& [key, inner] : value.items()) {
            add_key(mapping, key, yaml_of(inner));
        }
        return mapping;
    }
    if (value.is_array()) {
        YamlNode list = yaml_list();
        for (const nlohmann::json& inner : value) {
            list.items.push_back(yaml_of(inner));
        }
        return list;
    }
    if (value.is_string()) {
        return yaml_string(value.get_ref<const std::string&>());
    }
    // Numbers, true, false and null are written as in JSON, where nan would become null.
    const std::string text = value.dump();
    if (value.is_number_float() && text == "null") {
        throw error("a number is not finite");
    }
    return yaml_plain(text);
}

std::string write_yaml(const YamlNode& document) {
    return YamlEmitter().document(document);
}

}  // namespace edgegpu
