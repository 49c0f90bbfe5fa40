#include "microshift/config_schema.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "embedded_config_schema.hpp"
#include "schema/compiled_schema.hpp"
#include "schema/definitions.hpp"
#include "schema/explain.hpp"
#include "schema/schema_table.hpp"
#include "schema/server_value.hpp"
#include "support/error.hpp"
#include "support/source_location.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

constexpr const char* root_definition = "config";

/// Makes a line of the table of each object of a published schema, as
/// scripts/make-microshift-schema does it, which says what is left out. Definitions have numbers:
/// names made of the keys of an image's file may be long, and the same for different places.
class PublishedSchema {
public:
    explicit PublishedSchema(unsigned version) : version_(version) {}

    // NOLINTNEXTLINE(misc-no-recursion): the depth is limited
    json convert(const json& node, std::string_view key, unsigned depth) {
        if (!node.is_object() || depth > 64) {
            throw error("the part \"{}\" is not a schema, or nested too deep",
                        shortened(printable_line(key)));
        }
        json made = json::object();
        if (const std::string type = text_of_key(node, "type"); is_type(type)) {
            made["type"] = type;
        }
        add_limits(node, made);
        if (const auto items = node.find("items"); items != node.end()) {
            made["items"] = convert(*items, "items", depth + 1);
        }
        if (const auto others = node.find("additionalProperties");
            others != node.end() && others->is_object()) {
            made["additionalProperties"] = convert(*others, "additionalProperties", depth + 1);
        }
        const auto properties = node.find("properties");
        if (properties == node.end()) {
            return made;
        }
        const std::string name =
            depth == 0 ? root_definition : fmt::format("{}.{}", root_definition, ++definitions_);
        made["properties"] = json::object();
        for (const auto& [property, inner] : properties->items()) {
            made["properties"][property] = convert(inner, property, depth + 1);
        }
        made["additionalProperties"] = false;
        // As ASCII: the lines of the table have neither ends of lines nor tabs within.
        lines += fmt::format("schema\t{}\t{}-{}\t{}\n", name, version_, version_,
                             made.dump(-1, ' ', true));
        return {{"$ref", "#/definitions/" + name}};
    }

    std::string lines;

private:
    static bool is_type(std::string_view type) {
        return type == "object" || type == "array" || type == "string" || type == "integer" ||
               type == "number" || type == "boolean";
    }

    static std::string text_of_key(const json& node, const char* key) {
        const auto found = node.find(key);
        return found != node.end() && found->is_string() ? found->get<std::string>() : "";
    }

    static void add_limits(const json& node, json& made) {
        const std::string format = text_of_key(node, "format");
        if (format == "int32") {
            made["minimum"] = std::numeric_limits<std::int32_t>::min();
            made["maximum"] = std::numeric_limits<std::int32_t>::max();
        }
        if (format == "duration" ||
            text_of_key(node, "pattern").find("(ns|us|") != std::string::npos) {
            made["x-format"] = "duration";
        }
        for (const char* key : {"minimum", "maximum"}) {
            if (const auto bound = node.find(key); bound != node.end() && bound->is_number()) {
                made[key] = *bound;
            }
        }
        // Copying and writing a nested value recurses as deep as the image's file has it.
        if (const auto choices = node.find("enum");
            choices != node.end() && choices->is_array() &&
            std::ranges::all_of(*choices,
                                [](const json& choice) { return choice.is_primitive(); })) {
            made["enum"] = *choices;
        }
    }

    unsigned version_;
    /// Those that are numbered: all but the root.
    std::size_t definitions_ = 0;
};

}  // namespace

struct ConfigSchema::State {
    /// A table that is not the program's own.
    std::string text;
    SchemaTable table;
    /// It caches what it parses.
    mutable Definitions definitions;
    CompiledSchema compiled;

    State(std::string own, std::string_view shipped, KubernetesVersion version)
        : text(std::move(own)),
          table(text.empty() ? shipped : std::string_view(text)),
          definitions(table, version),
          compiled(definitions.document(root_definition)) {}
};

ConfigSchema::ConfigSchema(std::unique_ptr<State> state) : state_(std::move(state)) {}
ConfigSchema::ConfigSchema(ConfigSchema&&) noexcept = default;
ConfigSchema& ConfigSchema::operator=(ConfigSchema&&) noexcept = default;
ConfigSchema::~ConfigSchema() = default;

std::optional<ConfigSchema> ConfigSchema::shipped(std::optional<MicroshiftVersion> version) {
    const std::string_view text = embedded::microshift_schemas_txt;
    const KubernetesRange known = SchemaTable(text).versions();
    const KubernetesVersion wanted{version ? version->number() : known.last.minor};
    if (!known.contains(wanted)) {
        return std::nullopt;
    }
    return ConfigSchema(std::make_unique<State>(std::string(), text, wanted));
}

ConfigSchema ConfigSchema::published(std::string_view document, MicroshiftVersion version) {
    constexpr std::size_t largest = 4U << 20U;
    const json schema = document.size() > largest
                            ? json(json::value_t::discarded)
                            : json::parse(document, nullptr, /*allow_exceptions=*/false);
    if (schema.is_discarded() || !schema.is_object() || !schema.contains("properties")) {
        throw error("it is not a JSON schema of an object");
    }
    const unsigned number = version.number();
    PublishedSchema published(number);
    published.convert(schema, root_definition, 0);
    return ConfigSchema(std::make_unique<State>(
        fmt::format("product\tMicroShift\nversions\t{0}\t{0}-{0}\n{1}", number, published.lines),
        std::string_view(), KubernetesVersion{number}));
}

std::vector<SchemaProblem> ConfigSchema::check(const json& config) const {
    ServerValue read = read_as_server(config);
    if (!read.problems.empty()) {
        return std::move(read.problems);
    }
    std::vector<SchemaProblem> problems = explain_failures(
        state_->definitions, root_definition, read.value, state_->compiled.validate(read.value));
    if (problems.size() > max_problems) {
        problems.resize(max_problems);
        problems.push_back({"", "there are more problems"});
    }
    return problems;
}

}  // namespace edgegpu
