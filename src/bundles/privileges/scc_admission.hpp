#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "bundles/privileges/scc.hpp"

namespace edgegpu {

/// What a pod asks for that a constraint does not allow.
struct SccProblem {
    /// JSON pointer (RFC 6901) from the object that has the pod's metadata and spec
    std::string pointer;
    /// "container \"a\" is privileged"
    std::string message;
    /// "drop privileged"
    std::string hint;
};

/// What one constraint makes of a pod.
struct SccVerdict {
    /// None: it admits the pod.
    std::vector<SccProblem> problems;
    /// The pod with what the constraint sets where the pod says nothing: users, dropped
    /// capabilities, seccomp profile. The Pod Security Standards are applied to this.
    nlohmann::json pod;
};

/// Applies a constraint to a pod (an object with `metadata` and `spec`, with the API server's
/// defaults) as the admission of OpenShift and MicroShift does.
[[nodiscard]] SccVerdict apply_scc(const Scc& scc, const nlohmann::json& pod,
                                   const NamespaceIds& ids);

}  // namespace edgegpu
