#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "schema/schema_problem.hpp"

namespace edgegpu {

/// What the values of a configuration mean that MicroShift refuses when it starts, which leaves the
/// device without a cluster (the functions `validate` in pkg/config of its sources), and what it
/// ignores: addresses and networks, ports, names, limits. What depends on the device (its
/// interfaces, files) is not checked. Values of a wrong type are passed over: the schema finds
/// them.
[[nodiscard]] std::vector<SchemaProblem> check_config_values(const nlohmann::json& config);

}  // namespace edgegpu
