#pragma once

#include <string>
#include <vector>

namespace edgegpu {

/// Arguments for bubblewrap that set the host name in the sandbox to "localhost"; empty if the
/// machine has this name already, since seccomp profiles of containers may deny sethostname(2).
[[nodiscard]] std::vector<std::string> host_name_arguments();

}  // namespace edgegpu
