#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "schema/schema_problem.hpp"

namespace edgegpu {

/// Objects and lists within each other beyond which an object is not looked into: more than any
/// real custom resource definition has, and little enough for functions that call themselves.
constexpr std::size_t max_object_depth = 128;
/// Bytes of a key; labels and annotations have up to 317.
constexpr std::size_t max_key_size = 4096;

/// An object as the API server's decoder reads it, whatever its kind.
struct ServerValue {
    /// Numbers such as 3.0 as integers; integers beyond 64 bits as floating-point numbers. What
    /// `problems` are about is left out, or null.
    nlohmann::json value;
    /// What no API server takes, whatever the kind: depth, keys, text that is not UTF-8.
    std::vector<SchemaProblem> problems;
};

/// Reads any value, of any depth.
[[nodiscard]] ServerValue read_as_server(const nlohmann::json& object);

}  // namespace edgegpu
