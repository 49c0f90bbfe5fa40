#pragma once

#include <string>
#include <string_view>

namespace edgegpu {

/// Architecture of the machines that a cloud calls `type`, by the rules by which it names them:
/// "x86_64", "aarch64", or empty where that is not certain. `kind` is that of the provider
/// specification ("AWSMachineProviderConfig").
[[nodiscard]] std::string architecture_of_machines(std::string_view kind, const std::string& type);

}  // namespace edgegpu
