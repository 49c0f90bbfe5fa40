#pragma once

#include <string>
#include <vector>

#include "bundles/objects.hpp"

namespace edgegpu {

/// The versions of what a bundle runs, sorted, each once: the label app.kubernetes.io/version of
/// its workloads if there is one, else the first part with a number of each image's tag:
/// "v0.20.0", "25.02" of "25.02-tf2-py3", "cuda12.5.0" of "vectoradd-cuda12.5.0-ubi8".
[[nodiscard]] std::vector<std::string> versions_of(const std::vector<KubeObject>& objects);

/// What the pods of a bundle may do beyond those of others, in a few words each, and what its
/// accounts may: "privileged", "hostNetwork", "hostPID", "hostIPC", "hostPath", "root",
/// "capability SYS_ADMIN", "SCC privileged", "cluster-admin". In this order.
[[nodiscard]] std::vector<std::string> privileges_of(const std::vector<KubeObject>& objects);

}  // namespace edgegpu
