#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "schema/compiled_schema.hpp"
#include "schema/definitions.hpp"

namespace edgegpu {

/// An object as the API server reads it that knows its kind.
struct TypedValue {
    /// Without members that are null, which are the same as none, except unknown ones. Elements of
    /// lists that are null have the zero value of their type, except in lists with keys, which may
    /// not have any.
    nlohmann::json value;
    /// The lists with keys that have a key more than once: server-side apply refuses them.
    std::vector<SchemaFailure> failures;
};

/// Reads an object of read_as_server by a definition's schema.
[[nodiscard]] TypedValue read_by_schema(Definitions& definitions, const std::string& root,
                                        const nlohmann::json& object);

/// Whether the elements of a list have keys ("x-list-keys" of the table).
[[nodiscard]] bool has_list_keys(const nlohmann::json& schema);

/// The keys that more than one element of a list has, once each, as they are written in messages:
/// `name "app"`, `containerPort 80, protocol "TCP"`, `"Ingress"`.
[[nodiscard]] std::vector<std::string> repeated_keys(const nlohmann::json& schema,
                                                     const nlohmann::json& list);

}  // namespace edgegpu
