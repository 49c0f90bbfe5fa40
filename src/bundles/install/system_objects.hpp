#pragma once

#include <string_view>

namespace edgegpu {

/// Namespaces that every cluster has.
[[nodiscard]] bool is_system_namespace(std::string_view name);

/// Whether Kubernetes or MicroShift makes an object, or may make one of this name: a bundle that
/// changed it has never owned it, and without it the device's cluster may not work. `group` is that
/// of the API ("apps"; empty: the core's). Of namespaces, those of the system.
[[nodiscard]] bool belongs_to_system(std::string_view group, std::string_view kind,
                                     std::string_view name_space, std::string_view name);

}  // namespace edgegpu
