#pragma once

#include <string>
#include <vector>

#include "schema/definitions.hpp"
#include "schema/schema_problem.hpp"

namespace edgegpu {

/// What an unknown field was probably meant to be, as the end of a message: `; did you mean
/// "imagePullPolicy"?`, "; it belongs to spec.template.spec", "; Kubernetes 1.29 and later have
/// it". Empty if nothing is near.
/// `path` leads to the object that has the field, and `trail` has the definitions on the way to it,
/// one more than `path` has steps: the first is the kind's.
[[nodiscard]] std::string unknown_field_hint(Definitions& definitions,
                                             const std::vector<Definition>& trail,
                                             const ObjectPath& path, const std::string& field);

}  // namespace edgegpu
