#include "yaml/yaml.hpp"

#include <yaml.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "support/error.hpp"

namespace edgegpu {

namespace {

constexpr std::size_t most_nodes = 1'000'000;
constexpr std::size_t most_bytes = 64U << 20U;
constexpr unsigned most_levels = 100;
constexpr const char* aliases_hint = "write out what is needed instead of aliases (*) of aliases";

/// libyaml's events, one at a time: its documents would be read whole before a limit is seen.
class YamlEvents {
public:
    YamlEvents(const std::string& file, std::string_view text) : file_(file) {
        if (yaml_parser_initialize(&parser_) == 0) {
            throw errno_error("yaml_parser_initialize", ENOMEM);
        }
        yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                     text.size());
    }
    ~YamlEvents() {
        yaml_event_delete(&event_);
        yaml_parser_delete(&parser_);
    }
    YamlEvents(const YamlEvents&) = delete;
    YamlEvents& operator=(const YamlEvents&) = delete;

    /// Valid until the next call.
    const yaml_event_t& next() {
        yaml_event_delete(&event_);
        if (yaml_parser_parse(&parser_, &event_) == 0) {
            throw error_at(place(parser_.problem_mark), "not YAML: {}",
                           parser_.problem != nullptr ? parser_.problem : "out of memory");
        }
        return event_;
    }

    [[nodiscard]] SourceLocation place(const yaml_mark_t& mark) const {
        return {file_, static_cast<std::uint32_t>(mark.line + 1),
                static_cast<std::uint32_t>(mark.column + 1)};
    }

private:
    const std::string& file_;
    yaml_parser_t parser_{};
    yaml_event_t event_{};
};

std::string name_of_anchor(const unsigned char* anchor) {
    return anchor == nullptr ? std::string() : reinterpret_cast<const char*>(anchor);
}

/// Makes values of the events of one document after the other.
class YamlReader {
public:
    YamlReader(const std::string& file, std::string_view text) : events_(file, text) {}

    std::vector<YamlNode> documents() {
        std::vector<YamlNode> found;
        while (true) {
            switch (events_.next().type) {
                case YAML_STREAM_END_EVENT:
                    return found;
                case YAML_DOCUMENT_START_EVENT: {
                    anchors_.clear();
                    YamlNode root = node(events_.next(), 0);
                    if (root.kind != YamlNode::Kind::scalar || !root.text.empty()) {
                        found.push_back(std::move(root));
                    }
                    break;
                }
                default:
                    break;
            }
        }
    }

private:
    /// A node and what an alias of it costs.
    struct Anchored {
        YamlNode node;
        std::size_t nodes = 0;
        std::size_t bytes = 0;
    };

    [[nodiscard]] Error wrong(const yaml_mark_t& mark, std::string_view what) const {
        return error_at(events_.place(mark), "{}", what);
    }

    void count(const yaml_mark_t& mark, std::size_t nodes, std::size_t bytes) {
        nodes_ += nodes;
        bytes_ += bytes;
        if (nodes_ > most_nodes) {
            throw wrong(mark, "more than a million YAML nodes, with aliases replaced")
                .hinted(aliases_hint);
        }
        if (bytes_ > most_bytes) {
            throw wrong(mark, "more than 64 MiB of YAML, with aliases replaced")
                .hinted(aliases_hint);
        }
    }

    /// The node that begins with `event`.
    // NOLINTNEXTLINE(misc-no-recursion): at most most_levels
    YamlNode node(const yaml_event_t& event, unsigned level) {
        const yaml_mark_t mark = event.start_mark;
        if (level > most_levels) {
            throw wrong(mark, fmt::format("more than {} levels of YAML", most_levels));
        }
        if (event.type == YAML_ALIAS_EVENT) {
            return alias(event);
        }
        const std::size_t nodes = nodes_;
        const std::size_t bytes = bytes_;
        std::string anchor;
        YamlNode result;
        result.line = static_cast<std::uint32_t>(mark.line + 1);
        result.column = static_cast<std::uint32_t>(mark.column + 1);
        if (event.type == YAML_SCALAR_EVENT) {
            anchor = name_of_anchor(event.data.scalar.anchor);
            count(mark, 1, event.data.scalar.length);
            read_scalar(event, result);
        } else if (event.type == YAML_SEQUENCE_START_EVENT) {
            anchor = name_of_anchor(event.data.sequence_start.anchor);
            count(mark, 1, 0);
            result.kind = YamlNode::Kind::sequence;
            for (const yaml_event_t* item = &events_.next(); item->type != YAML_SEQUENCE_END_EVENT;
                 item = &events_.next()) {
                result.items.push_back(node(*item, level + 1));
            }
        } else {
            anchor = name_of_anchor(event.data.mapping_start.anchor);
            count(mark, 1, 0);
            result.kind = YamlNode::Kind::mapping;
            for (const yaml_event_t* key = &events_.next(); key->type != YAML_MAPPING_END_EVENT;
                 key = &events_.next()) {
                result.keys.push_back(read_key(*key, level + 1));
                result.items.push_back(node(events_.next(), level + 1));
            }
        }
        if (!anchor.empty()) {
            anchors_[anchor] = {result, nodes_ - nodes, bytes_ - bytes};
            // The copy needs memory, too.
            count(mark, nodes_ - nodes, bytes_ - bytes);
        }
        return result;
    }

    // NOLINTNEXTLINE(misc-no-recursion): at most most_levels
    std::string read_key(const yaml_event_t& event, unsigned level) {
        const yaml_mark_t mark = event.start_mark;
        YamlNode key = node(event, level);
        if (key.kind != YamlNode::Kind::scalar) {
            throw wrong(mark, "a YAML key that is not a scalar");
        }
        return std::move(key.text);
    }

    YamlNode alias(const yaml_event_t& event) {
        const auto found = anchors_.find(name_of_anchor(event.data.alias.anchor));
        if (found == anchors_.end()) {
            throw wrong(event.start_mark, "not YAML: found undefined alias");
        }
        count(event.start_mark, found->second.nodes, found->second.bytes);
        return found->second.node;
    }

    static void read_scalar(const yaml_event_t& event, YamlNode& result) {
        const auto& scalar = event.data.scalar;
        result.quoted = scalar.style != YAML_PLAIN_SCALAR_STYLE;
        result.text.assign(reinterpret_cast<const char*>(scalar.value), scalar.length);
        if (!result.quoted && (result.text == "~" || result.text == "null")) {
            result.text.clear();
        }
    }

    YamlEvents events_;
    std::map<std::string, Anchored> anchors_;
    std::size_t nodes_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
    const auto found = std::ranges::find(keys, key);
    return found == keys.end() ? nullptr : &items[static_cast<std::size_t>(found - keys.begin())];
}

const YamlNode* YamlNode::find(std::initializer_list<std::string_view> path) const {
    const YamlNode* node = this;
    for (const std::string_view key : path) {
        node = node->find(key);
        if (node == nullptr) {
            return nullptr;
        }
    }
    return node;
}

std::string YamlNode::text_at(std::initializer_list<std::string_view> path) const {
    const YamlNode* node = find(path);
    return node != nullptr && node->kind == Kind::scalar ? node->text : std::string();
}

std::vector<YamlNode> read_yaml(const std::string& file, std::string_view text) {
    return YamlReader(file, text).documents();
}

}  // namespace edgegpu
