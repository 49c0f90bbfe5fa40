#pragma once

#include <string>
#include <vector>

namespace edgegpu {

/// What tells bubblewrap to name the machine "localhost" for the program it runs; empty where it
/// has this name already, as in containers, whose seccomp profiles refuse sethostname(2).
[[nodiscard]] std::vector<std::string> host_name_arguments();

}  // namespace edgegpu
