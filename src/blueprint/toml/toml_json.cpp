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
    explicit JsonConversion(Mistakes& mistakes) : mistakes_(mistakes) {}

    // NOLINTNEXTLINE(misc-no-recursion): see above
    json object_of(const TomlTable& table, const json::json_pointer& pointer) {
        json object = json::object();
        for (const auto& [name, member] : table) {
            const json::json_pointer inner = pointer / name;
            places[inner.to_string()] = member.place.location();
            if (json value = value_of(member.value, inner); !value.is_discarded()) {
                object[name] = std::move(value);
            }
        }
        return object;
    }

    std::map<std::string, SourceLocation> places;

private:
    json refused(const TomlValue& value, std::string_view what) {
        mistakes_.add(error_at(value.place.location(), "{} cannot be written as YAML here", what)
                          .hinted("write it in quotes if a string is meant"));
        return json(json::value_t::discarded);
    }

    // NOLINTNEXTLINE(misc-no-recursion)
    json list_of(const TomlArray& array, const json::json_pointer& pointer) {
        json list = json::array();
        std::size_t index = 0;
        for (const TomlValue& item : array) {
            const json::json_pointer inner = pointer / index++;
            places[inner.to_string()] = item.place.location();
            if (json value = value_of(item, inner); !value.is_discarded()) {
                list.push_back(std::move(value));
            }
        }
        return list;
    }

    // NOLINTNEXTLINE(misc-no-recursion)
    json value_of(const TomlValue& value, const json::json_pointer& pointer) {
        if (const auto* table = value.get<TomlTable>()) {
            return object_of(*table, pointer);
        }
        if (const auto* array = value.get<TomlArray>()) {
            return list_of(*array, pointer);
        }
        if (const auto* text = value.get<std::string>()) {
            return *text;
        }
        if (const auto* number = value.get<std::int64_t>()) {
            return *number;
        }
        if (const bool* boolean = value.get<bool>()) {
            return *boolean;
        }
        if (const double* number = value.get<double>()) {
            return std::isfinite(*number) ? json(*number) : refused(value, "inf or nan");
        }
        return refused(value, value.type_name() == "a time" ? "a time" : "a date");
    }

    Mistakes& mistakes_;
};

}  // namespace

JsonTable TableReader::json() const {
    JsonConversion conversion(*state_->mistakes);
    JsonTable result;
    result.object = conversion.object_of(*state_->table, nlohmann::json::json_pointer());
    result.places = std::move(conversion.places);
    return result;
}

}  // namespace edgegpu
