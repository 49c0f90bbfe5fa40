#pragma once

#include <string>
#include <vector>

#include "bundles/objects.hpp"

namespace edgegpu {

/// The versions of what a bundle runs, sorted, each once: the label app.kubernetes.io/version of
/// its workloads if there is one, else the beginnings of its images' tags up to the first with a
/// number: "v0.20.0", "25.02" of "25.02-tf2-py3", "vectoradd-cuda12.5.0".
[[nodiscard]] std::vector<std::string> versions_of(const std::vector<KubeObject>& objects);

/// What the pods of a bundle may do beyond those of others, in a few words each, and what its
/// accounts may: "privileged", "host network", "host PID", "host IPC", "host paths", "root",
/// "capability SYS_ADMIN", "SCC privileged", "cluster-admin". In this order.
[[nodiscard]] std::vector<std::string> privileges_of(const std::vector<KubeObject>& objects);

}  // namespace edgegpu
