#include "schema/definitions.hpp"

#include <vector>

#include "support/error.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

constexpr std::string_view reference_prefix = "#/definitions/";

/// The definition that a schema refers to; empty if it is no reference.
std::string reference_of(const json& schema) {
    const auto found = schema.find("$ref");
    // A custom resource's schema has a property of that name, whose value is a schema.
    if (found == schema.end() || !found->is_string()) {
        return {};
    }
    return found->get_ref<const std::string&>().substr(reference_prefix.size());
}

/// Adds the definitions that any schema within `node` refers to.
void collect_references(const json& node, std::vector<std::string>& names) {
    if (node.is_object()) {
        if (std::string name = reference_of(node); !name.empty()) {
            names.push_back(std::move(name));
        }
    }
    if (node.is_structured()) {
        for (const json& inner : node) {
            collect_references(inner, names);
        }
    }
}

}  // namespace

const json& Definitions::find(const std::string& name) {
    if (const auto found = parsed_.find(name); found != parsed_.end()) {
        return found->second;
    }
    for (const SchemaRow& row : table_->schemas(name)) {
        if (row.versions.contains(version_)) {
            return parsed_.emplace(name, json::parse(row.json)).first->second;
        }
    }
    throw error("the schemas of {} have no {} for {}", table_->product(), name,
                table_->number_of(version_));
}

Definition Definitions::resolve(const json& schema) {
    Definition found{&schema, {}};
    for (std::string name = reference_of(schema); !name.empty();
         name = reference_of(*found.schema)) {
        found = {&find(name), name};
    }
    return found;
}

std::optional<Definition> Definitions::member(const json& schema, const std::string& key) {
    if (const auto properties = schema.find("properties"); properties != schema.end()) {
        if (const auto property = properties->find(key); property != properties->end()) {
            return resolve(*property);
        }
    }
    const auto others = schema.find("additionalProperties");
    if (others == schema.end() || !others->is_object()) {
        return std::nullopt;
    }
    return resolve(*others);
}

std::optional<Definition> Definitions::element(const json& schema) {
    const auto items = schema.find("items");
    return items == schema.end() ? std::nullopt : std::optional(resolve(*items));
}

json Definitions::document(const std::string& name) {
    json document;
    document["$ref"] = std::string(reference_prefix) + name;
    json& definitions = document["definitions"];
    std::vector<std::string> needed{name};
    while (!needed.empty()) {
        const std::string next = std::move(needed.back());
        needed.pop_back();
        if (!definitions.contains(next)) {
            definitions[next] = find(next);
            collect_references(definitions[next], needed);
        }
    }
    return document;
}

std::optional<KubernetesRange> Definitions::versions_with(const std::string& name,
                                                          const std::string& property) const {
    std::optional<KubernetesRange> found;
    for (const SchemaRow& row : table_->schemas(name)) {
        const json schema = json::parse(row.json);
        const bool has = schema.contains("properties") && schema["properties"].contains(property);
        if (has && !found) {
            found = row.versions;
        } else if (has && row.versions.first.minor == found->last.minor + 1) {
            found->last = row.versions.last;
        }
    }
    return found;
}

}  // namespace edgegpu
