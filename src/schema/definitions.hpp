#pragma once

#include <map>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "schema/schema_table.hpp"

namespace edgegpu {

/// A schema, and the definition that it is.
struct Definition {
    /// never null, and no reference to another schema
    const nlohmann::json* schema = nullptr;
    /// Name of the definition, "core.v1.PodSpec"; empty for a schema within one.
    std::string name;
};

/// The definitions of one version of Kubernetes, each parsed when it is first needed.
class Definitions {
public:
    /// `table` must outlive it.
    Definitions(const SchemaTable& table, KubernetesVersion version)
        : table_(&table), version_(version) {}
    /// Definitions are handed out by address.
    Definitions(const Definitions&) = delete;
    Definitions& operator=(const Definitions&) = delete;
    Definitions(Definitions&&) = delete;
    Definitions& operator=(Definitions&&) = delete;
    ~Definitions() = default;

    [[nodiscard]] const SchemaTable& table() const { return *table_; }
    [[nodiscard]] KubernetesVersion version() const { return version_; }
    /// The schema of a definition. Throws Error for a name that this version does not have.
    [[nodiscard]] const nlohmann::json& find(const std::string& name);
    /// `schema`, or the definition that it refers to.
    [[nodiscard]] Definition resolve(const nlohmann::json& schema);
    /// What a member of an object has to be: of `properties`, else of `additionalProperties`.
    /// Nothing if the schema says nothing about it, or forbids it.
    [[nodiscard]] std::optional<Definition> member(const nlohmann::json& schema,
                                                   const std::string& key);
    /// What the elements of a list have to be, if the schema says so.
    [[nodiscard]] std::optional<Definition> element(const nlohmann::json& schema);
    /// A schema with all that it refers to: {"$ref": "#/definitions/NAME", "definitions": {…}}.
    [[nodiscard]] nlohmann::json document(const std::string& name);
    /// The versions of Kubernetes whose definition `name` has the property, joined where they
    /// follow each other; the first range that has it.
    [[nodiscard]] std::optional<KubernetesRange> versions_with(const std::string& name,
                                                               const std::string& property) const;

private:
    const SchemaTable* table_;
    KubernetesVersion version_;
    std::map<std::string, nlohmann::json> parsed_;
};

}  // namespace edgegpu
