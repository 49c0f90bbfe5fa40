#include "microshift/yaml_text.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <string_view>

#include <yaml.h>

#include "bundles/yaml_json.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

/// libyaml's emitter, which writes to a string.
class YamlWriter {
public:
    YamlWriter() {
        if (yaml_emitter_initialize(&emitter_) == 0) {
            throw error("not enough memory for YAML");
        }
        yaml_emitter_set_output(&emitter_, &append, this);
        yaml_emitter_set_unicode(&emitter_, 1);
        yaml_emitter_set_width(&emitter_, -1);
        yaml_emitter_set_indent(&emitter_, 2);
    }
    ~YamlWriter() { yaml_emitter_delete(&emitter_); }
    YamlWriter(const YamlWriter&) = delete;
    YamlWriter& operator=(const YamlWriter&) = delete;
    YamlWriter(YamlWriter&&) = delete;
    YamlWriter& operator=(YamlWriter&&) = delete;

    std::string document(const json& value) {
        emit([](yaml_event_t& event) {
            return yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING);
        });
        emit([](yaml_event_t& event) {
            return yaml_document_start_event_initialize(&event, nullptr, nullptr, nullptr, 1);
        });
        write(value);
        emit([](yaml_event_t& event) { return yaml_document_end_event_initialize(&event, 1); });
        emit([](yaml_event_t& event) { return yaml_stream_end_event_initialize(&event); });
        if (yaml_emitter_flush(&emitter_) == 0) {
            fail();
        }
        return std::move(text_);
    }

private:
    static int append(void* data, unsigned char* bytes, std::size_t size) noexcept {
        auto* writer = static_cast<YamlWriter*>(data);
        try {
            writer->text_.append(reinterpret_cast<const char*>(bytes), size);
            return 1;
        } catch (...) {
            writer->failure_ = std::current_exception();
            return 0;
        }
    }

    [[noreturn]] void fail() const {
        if (failure_) {
            std::rethrow_exception(failure_);
        }
        throw error("cannot write YAML: {}",
                    emitter_.problem != nullptr ? emitter_.problem : "not enough memory");
    }

    template <typename Initialize>
    void emit(Initialize initialize) {
        yaml_event_t event;
        // The emitter deletes the event, whatever happens.
        if (initialize(event) == 0 || yaml_emitter_emit(&emitter_, &event) == 0) {
            fail();
        }
    }

    void scalar(std::string_view text, yaml_scalar_style_t style) {
        emit([&](yaml_event_t& event) {
            const auto* bytes = reinterpret_cast<const yaml_char_t*>(text.data());
            return yaml_scalar_event_initialize(&event, nullptr, nullptr, bytes,
                                                static_cast<int>(text.size()), 1, 1, style);
        });
    }

    /// Letters, digits and hyphens, and nothing that YAML 1.1 gives a meaning.
    static bool is_plain_key(const std::string& key) {
        constexpr auto single = std::to_array<std::string_view>({"y", "Y", "n", "N"});
        const auto is_letter = [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        };
        if (key.empty() || key.size() > 64 || !is_letter(key.front()) ||
            std::find(single.begin(), single.end(), key) != single.end() ||
            !std::all_of(key.begin(), key.end(), [&](char c) {
                return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_';
            })) {
            return false;
        }
        YamlNode node;
        node.text = key;
        return json_of(node).is_string();
    }

    // NOLINTNEXTLINE(misc-no-recursion): the depth of TOML is limited
    void write(const json& value) {
        if (value.is_object()) {
            emit([&](yaml_event_t& event) {
                return yaml_mapping_start_event_initialize(
                    &event, nullptr, nullptr, 1,
                    value.empty() ? YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE);
            });
            for (const auto& [key, inner] : value.items()) {
                scalar(key, is_plain_key(key) ? YAML_PLAIN_SCALAR_STYLE
                                              : YAML_DOUBLE_QUOTED_SCALAR_STYLE);
                write(inner);
            }
            emit([](yaml_event_t& event) { return yaml_mapping_end_event_initialize(&event); });
        } else if (value.is_array()) {
            emit([&](yaml_event_t& event) {
                return yaml_sequence_start_event_initialize(
                    &event, nullptr, nullptr, 1,
                    value.empty() ? YAML_FLOW_SEQUENCE_STYLE : YAML_BLOCK_SEQUENCE_STYLE);
            });
            for (const json& inner : value) {
                write(inner);
            }
            emit([](yaml_event_t& event) { return yaml_sequence_end_event_initialize(&event); });
        } else if (value.is_string()) {
            scalar(value.get_ref<const std::string&>(), YAML_DOUBLE_QUOTED_SCALAR_STYLE);
        } else {
            // Numbers, true, false and null are written as in JSON; nan would become null.
            if (value.is_number_float() && value.dump() == "null") {
                throw error("a number is not finite");
            }
            scalar(value.dump(), YAML_PLAIN_SCALAR_STYLE);
        }
    }

    yaml_emitter_t emitter_{};
    std::string text_;
    std::exception_ptr failure_;
};

}  // namespace

std::string yaml_text(const json& value) {
    return YamlWriter().document(value);
}

}  // namespace edgegpu
