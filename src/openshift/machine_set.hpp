#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "blueprint/openshift.hpp"

namespace edgegpu {

/// A MachineSet of OpenShift's machine API (machine.openshift.io/v1beta1 of openshift/api), and
/// what is accepted but may not be meant.
struct GpuMachineSet {
    nlohmann::json object;
    std::vector<std::string> warnings;
};

/// The set of GPU machines that `request` asks for, for nodes of `pool`: a copy of the existing set
/// in its file with the new name in all three places that have one, without what belongs to the
/// existing object, and with the GPU in the fields of its cloud (AWS, Google Cloud, Azure,
/// vSphere). `architecture` is that of the image ("x86_64"). Throws ErrorKind::usage at the
/// request's line, or naming the file and its line, for a file that is not one machine set, that
/// has a secret in it, or whose cloud has no such fields.
[[nodiscard]] GpuMachineSet gpu_machine_set(const MachineSetRequest& request,
                                            const std::string& pool,
                                            const std::string& architecture);

}  // namespace edgegpu
