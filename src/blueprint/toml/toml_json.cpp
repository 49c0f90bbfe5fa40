#include "blueprint/toml/toml_json.hpp"

#include <cmath>

#include "blueprint/toml/toml_reader.hpp"
#include "blueprint/toml/toml_state.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

/// Converts one table. The parser has limited the depth (toml_depth.hpp).
class JsonConversion {
public:
    JsonConversion(const std::string& file, Mistakes& mistakes)
        : file_(file), mistakes_(mistakes) {}

    // NOLINTNEXTLINE(misc-no-recursion): see above
    json object_of(const toml::table& table, const json::json_pointer& pointer) {
        json object = json::object();
        for (const auto& [key, node] : table) {
            const std::string name(key.str());
            const json::json_pointer inner = pointer / name;
            places[inner.to_string()] = place_of(key.source());
            if (json value = value_of(node, inner); !value.is_discarded()) {
                object[name] = std::move(value);
            }
        }
        return object;
    }

    std::map<std::string, SourceLocation> places;

private:
    [[nodiscard]] SourceLocation place_of(const toml::source_region& source) const {
        return {file_, source.begin.line, source.begin.column};
    }

    json refused(const toml::node& node, std::string_view what) {
        mistakes_.add(error_at(place_of(node.source()), "{} cannot be written as YAML here", what)
                          .hinted("write it in quotes if a string is meant"));
        return json(json::value_t::discarded);
    }

    // NOLINTNEXTLINE(misc-no-recursion)
    json list_of(const toml::array& array, const json::json_pointer& pointer) {
        json list = json::array();
        std::size_t index = 0;
        for (const toml::node& node : array) {
            const json::json_pointer inner = pointer / index++;
            places[inner.to_string()] = place_of(node.source());
            if (json value = value_of(node, inner); !value.is_discarded()) {
                list.push_back(std::move(value));
            }
        }
        return list;
    }

    // NOLINTNEXTLINE(misc-no-recursion)
    json value_of(const toml::node& node, const json::json_pointer& pointer) {
        if (const toml::table* table = node.as_table()) {
            return object_of(*table, pointer);
        }
        if (const toml::array* array = node.as_array()) {
            return list_of(*array, pointer);
        }
        if (const auto* text = node.as_string()) {
            return text->get();
        }
        if (const auto* number = node.as_integer()) {
            return number->get();
        }
        if (const auto* boolean = node.as_boolean()) {
            return boolean->get();
        }
        if (const auto* number = node.as_floating_point()) {
            return std::isfinite(number->get()) ? json(number->get()) : refused(node, "inf or nan");
        }
        return refused(node, node.is_time() ? "a time" : "a date");
    }

    const std::string& file_;
    Mistakes& mistakes_;
};

}  // namespace

JsonTable TableReader::json() const {
    JsonConversion conversion(state_->file, *state_->mistakes);
    JsonTable result;
    result.object = conversion.object_of(*state_->table, nlohmann::json::json_pointer());
    result.places = std::move(conversion.places);
    return result;
}

}  // namespace edgegpu
